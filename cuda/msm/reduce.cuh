// From buckets to parts: sum over b of (b + 1) · bucket[b], for every window.
//
// A window's 2^lg buckets form rows of 2^lg_columns, b = row · columns + column. With R the sums of rows and C of columns
//     sum of (b + 1) bucket[b] = columns · sum of row · R[row] + sum of (column + 1) · C[column],
// at 2 additions a bucket, all of them affine with shared inversions: halves of a row, or of the whole window, are added
// until few points are left. The weighted sums of R and C are taken apart by bits: part b is the sum of the entries whose
// index has bit b. So a window of `width` bits gives `width` parts: one of all columns, with exponent low, and one for
// each bit of b, with exponent low + bit. They are summed on the host, which doubles 255 times faster than one thread here.
#pragma once

#include "curve/xyzz.cuh"
#include "msm/accumulate.cuh"

namespace czk {

// Adds the halves of segments: out[segment · out_stride + j] = in[segment · in_stride + j] + in[… + j + half].
template <class F>
struct halves_t {
    using entry_t = uint4;
    static constexpr bool listed = false;

    const affine_t<F> *in;
    affine_t<F> *out;
    uint64_t in_stride, out_stride;
    uint32_t lg_half;

    CZK_FN addition_t<F> make(const halves_t &source, uint32_t k) {
        uint32_t segment = k >> source.lg_half, j = k & ((1u << source.lg_half) - 1);
        const affine_t<F> *left = source.in + segment * source.in_stride + j;
        return {left, left + (1u << source.lg_half), false, false, source.out + segment * source.out_stride + j};
    }
};

// Halves `segments` segments of 2^lg_length points, `stride` apart at `in`, down to 2^lg_target, which end up without
// gaps at `out`. Intermediate sums go to `middle`, middle_stride apart; it may be `in` itself.
template <class F>
struct halving_t {
    const affine_t<F> *in;
    uint64_t stride;
    uint64_t segments;
    uint32_t lg_length, lg_target;
    affine_t<F> *middle;
    uint64_t middle_stride;
    affine_t<F> *out;
    bool is_done = false;
};

// One step of `halve`: the points are not read at `in` again.
template <class F>
czk_status_t halve_once(halving_t<F> &halving, F *before, device_shape_t device, cudaStream_t stream, pacer_t &pacer) {
    const uint64_t target_stride = uint64_t(1) << halving.lg_target;
    halving.is_done = halving.lg_length <= halving.lg_target + 1;
    if (halving.lg_length == halving.lg_target) {
        if (halving.in == halving.out) return ok();
        const size_t row = target_stride * sizeof(affine_t<F>);
        CZK_CUDA(cudaMemcpy2DAsync(halving.out, row, halving.in, halving.stride * sizeof(affine_t<F>), row,
                                   halving.segments, cudaMemcpyDeviceToDevice, stream));
        return ok();
    }
    const uint32_t lg_half = halving.lg_length - 1;
    affine_t<F> *out = halving.is_done ? halving.out : halving.middle;
    const uint64_t out_stride = halving.is_done ? target_stride : halving.middle_stride;
    halves_t<F> source{halving.in, out, halving.stride, out_stride, lg_half};
    CZK_TRY(launch_add_pairs<F>(source, halving.segments << lg_half, before, device, stream, pacer));
    halving.in = out;
    halving.stride = out_stride;
    halving.lg_length = lg_half;
    return ok();
}

// All steps that are left.
template <class F>
czk_status_t halve(halving_t<F> &halving, F *before, device_shape_t device, cudaStream_t stream, pacer_t &pacer) {
    while (!halving.is_done) CZK_TRY(halve_once(halving, before, device, stream, pacer));
    return ok();
}

// What is kept of every window until the end: 2^lg_kept partial sums a row and a column.
constexpr uint32_t lg_kept_max = 4;

struct window_shape_t {
    uint32_t lg, lg_columns, lg_rows, lg_row_kept, lg_column_kept;

    CZK_INDEX explicit window_shape_t(uint32_t width) {
        lg = width - 1;
        lg_columns = (lg + 1) / 2;
        lg_rows = lg - lg_columns;
        lg_row_kept = lg_columns < lg_kept_max ? lg_columns : lg_kept_max;
        lg_column_kept = lg_rows < lg_kept_max ? lg_rows : lg_kept_max;
    }
    CZK_INDEX uint64_t row_points() const { return uint64_t(1) << (lg_rows + lg_row_kept); }
    CZK_INDEX uint64_t column_points() const { return uint64_t(1) << (lg_columns + lg_column_kept); }
};

// Windows [first, last) of one width.
struct window_class_t {
    uint32_t first, last, width;
};

// The (at most two) classes among the windows [first, last).
inline uint32_t classes_of(windows_t windows, uint32_t first, uint32_t last, window_class_t (&classes)[2]) {
    uint32_t count = 0, middle = windows.wide();
    if (first < middle) classes[count++] = {first, last < middle ? last : middle, windows.width(first)};
    if (last > middle) classes[count++] = {first > middle ? first : middle, last, windows.width(last - 1)};
    return count;
}

// Points kept for the windows [0, window), rows and columns, in this order for each class: rows of all, columns of all.
inline uint64_t kept_before_class(windows_t windows, uint32_t window) {
    uint64_t points = 0;
    for (uint32_t w = 0; w < window; w++) {
        window_shape_t shape(windows.width(w));
        points += shape.row_points() + shape.column_points();
    }
    return points;
}

// Row and column sums of all windows.
inline uint64_t sum_points(windows_t windows) {
    uint64_t points = 0;
    for (uint32_t w = 0; w < windows.count; w++) {
        window_shape_t shape(windows.width(w));
        points += (uint64_t(1) << shape.lg_rows) + (uint64_t(1) << shape.lg_columns);
    }
    return points;
}

// Where class `whole` (of all windows of a width) keeps the rows and columns of window w.
template <class F>
struct kept_t {
    affine_t<F> *rows, *columns;

    kept_t(affine_t<F> *kept, windows_t windows, uint32_t w) {
        window_class_t whole[2];
        classes_of(windows, 0, windows.count, whole);
        const window_class_t &own = w < whole[0].last ? whole[0] : whole[1];
        window_shape_t shape(own.width);
        affine_t<F> *base = kept + kept_before_class(windows, own.first);
        rows = base + (w - own.first) * shape.row_points();
        columns = base + (own.last - own.first) * shape.row_points() + (w - own.first) * shape.column_points();
    }
};

// Memory of reduce_windows: half as many points as there are buckets, and products for as many pairs, for rows and for
// columns.
template <class F>
struct reduction_memory_t {
    affine_t<F> *middle;
    F *before[2];
    affine_t<F> *kept;
};

// Rows and columns of the windows [first, last), whose buckets follow one another at `buckets`; those are overwritten.
// Columns are added beside the rows, whose first halving alone reads what they overwrite. stream[0] has both at last.
template <class F>
czk_status_t reduce_windows(windows_t windows, uint32_t first, uint32_t last, affine_t<F> *buckets,
                            const reduction_memory_t<F> &memory, device_shape_t device, const chunk_streams_t &streams,
                            pacer_t &pacer) {
    window_class_t classes[2];
    const uint32_t count = classes_of(windows, first, last, classes);
    for (uint32_t c = 0; c < count; c++) {
        const window_shape_t shape(classes[c].width);
        const uint64_t n = classes[c].last - classes[c].first;
        const uint64_t columns = uint64_t(1) << shape.lg_columns;
        const kept_t<F> own(memory.kept, windows, classes[c].first);
        halving_t<F> rows{buckets,       columns,     n << shape.lg_rows, shape.lg_columns, shape.lg_row_kept,
                          memory.middle, columns / 2, own.rows};
        halving_t<F> all{buckets, uint64_t(1) << shape.lg, n, shape.lg, shape.lg_columns + shape.lg_column_kept,
                         buckets, uint64_t(1) << shape.lg, own.columns};
        CZK_TRY(halve_once(rows, memory.before[0], device, streams.stream[0], pacer));
        CZK_TRY(streams.order(1));
        CZK_TRY(halve(all, memory.before[1], device, streams.stream[1], pacer));
        CZK_TRY(halve(rows, memory.before[0], device, streams.stream[0], pacer));
        buckets += n << shape.lg;
    }
    return streams.order(0);
}

// A part: the sum of the points at `from` whose index has `bit` (bit < 0: of all 2^lg of them).
template <class F>
struct part_t {
    const affine_t<F> *from;
    uint32_t lg;
    int32_t bit;
};

// The parts of one class of windows, in the order of the exponents.
template <class F>
struct parts_t {
    const affine_t<F> *rows, *columns;
    uint32_t lg_rows, lg_columns, width;

    CZK_FN part_t<F> make(const parts_t &parts, uint32_t block) {
        const uint32_t window = block / parts.width, index = block % parts.width;
        const affine_t<F> *columns = parts.columns + (uint64_t(window) << parts.lg_columns);
        if (index == 0) return {columns, parts.lg_columns, -1};
        const uint32_t bit = index - 1;
        if (bit < parts.lg_columns) return {columns, parts.lg_columns, int32_t(bit)};
        return {parts.rows + (uint64_t(window) << parts.lg_rows), parts.lg_rows, int32_t(bit - parts.lg_columns)};
    }
};

// Uncompressed big-endian bytes, 4-byte aligned; infinity is zeros with the flag 0x40 in the first byte.
template <class F>
CZK_FN void write_point(unsigned char *out, const affine_t<F> &point) {
    uint32_t *words = reinterpret_cast<uint32_t *>(out);
    if (is_infinity(point)) {
        for (unsigned i = 0; i < sizeof(affine_t<F>) / 4; i++) words[i] = i == 0 ? 0x40 : 0;
    } else {
        to_be_words(words, point.x);
        to_be_words(words + sizeof(F) / 4, point.y);
    }
}

// Sums part make(parts, blockIdx.x) and writes its bytes to out[blockIdx.x].
template <class F, class Parts, unsigned THREADS>
__global__ void __launch_bounds__(THREADS) sum_parts(Parts parts, unsigned char *out) {
    __shared__ __align__(16) unsigned char shared_bytes[THREADS * sizeof(xyzz_t<F>)];
    xyzz_t<F> *shared = reinterpret_cast<xyzz_t<F> *>(shared_bytes);
    const part_t<F> part = Parts::make(parts, blockIdx.x);
    const uint32_t count = part.bit < 0 ? 1u << part.lg : 1u << part.lg >> 1;
    xyzz_t<F> sum = xyzz_infinity<F>();
    for (uint32_t i = threadIdx.x; i < count; i += THREADS) {
        uint32_t low = part.bit < 0 ? 0 : i & ((1u << part.bit) - 1);
        uint32_t index = part.bit < 0 ? i : (i - low) << 1 | 1u << part.bit | low;
        sum = madd(sum, load_words(part.from + index));
    }
    store_words(shared + threadIdx.x, sum);
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sum = add(sum, load_words(shared + threadIdx.x + half));
            store_words(shared + threadIdx.x, sum);
        }
    }
    if (threadIdx.x == 0) {
        affine_t<F> point = to_affine(sum);
        write_point(out + blockIdx.x * sizeof(affine_t<F>), point);
    }
}

template <class F>
struct part_shape_t {
    static constexpr unsigned threads = sizeof(F) <= 48 ? 128 : 64;
};

// The last step for all windows: what was kept becomes parts, in uncompressed big-endian bytes. `sums`: room for a row sum
// and a column sum each.
template <class F>
czk_status_t finish_windows(windows_t windows, affine_t<F> *kept, affine_t<F> *sums, F *before, unsigned char *d_parts,
                            device_shape_t device, cudaStream_t stream, pacer_t &pacer) {
    window_class_t classes[2];
    const uint32_t count = classes_of(windows, 0, windows.count, classes);
    for (uint32_t c = 0; c < count; c++) {
        const window_shape_t shape(classes[c].width);
        const uint64_t n = classes[c].last - classes[c].first;
        const kept_t<F> own(kept, windows, classes[c].first);
        const uint64_t row = uint64_t(1) << shape.lg_row_kept, all = shape.column_points();
        affine_t<F> *row_sums = sums, *column_sums = sums + (n << shape.lg_rows);
        sums = column_sums + (n << shape.lg_columns);
        halving_t<F> rows{own.rows, row, n << shape.lg_rows, shape.lg_row_kept, 0, own.rows, row, row_sums};
        halving_t<F> columns{own.columns,      all,         n,   shape.lg_columns + shape.lg_column_kept,
                             shape.lg_columns, own.columns, all, column_sums};
        CZK_TRY(halve(rows, before, device, stream, pacer));
        CZK_TRY(halve(columns, before, device, stream, pacer));
        parts_t<F> parts{row_sums, column_sums, shape.lg_rows, shape.lg_columns, classes[c].width};
        constexpr unsigned threads = part_shape_t<F>::threads;
        CZK_LAUNCH(sum_parts<F, parts_t<F>, threads>
                   <<<uint32_t(n * classes[c].width), threads, 0, stream>>>(parts, d_parts));
        d_parts += n * classes[c].width * sizeof(affine_t<F>);
    }
    return pacer.launched(1);
}

} // namespace czk
