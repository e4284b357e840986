// Many multiples of one point: 16 windows of 16 bits, a table of all 16-bit multiples of each window's point, and one
// affine addition a window and scalar.
#pragma once

#include "msm/digits.cuh"
#include "msm/workspace.cuh"

namespace czk {

constexpr uint32_t fixed_windows = 16, lg_fixed_entries = 16, fixed_entries = 1u << lg_fixed_entries;
constexpr uint64_t fixed_chunk = uint64_t(1) << 22; // scalars in one pass

// table[window · 2^16 + digit] = digit · 2^(16 window) · B; entry 0 is infinity.
template <class F>
struct fixed_space_t {
    affine_t<F> *table;
    F *before;
    uint16_t *digits; // digits[scalar · 16 + window]
    uint64_t bytes;

    explicit fixed_space_t(void *base) {
        carver_t carver(base);
        table = carver.take<affine_t<F>>(fixed_windows * uint64_t(fixed_entries));
        before = carver.take<F>(fixed_chunk);
        digits = carver.take<uint16_t>(fixed_chunk * fixed_windows);
        bytes = carver.used();
    }
};

template <class F>
uint64_t fixed_base_workspace_bytes() {
    return fixed_space_t<F>(nullptr).bytes;
}

// Fills entries 0 and 1 of each window.
template <class F>
__global__ void start_table(const affine_t<F> *powers, affine_t<F> *table) {
    uint32_t window = threadIdx.x;
    if (window >= fixed_windows) return;
    store_words(table + (window << lg_fixed_entries), infinity<F>());
    store_words(table + (window << lg_fixed_entries) + 1, load_words(powers + window));
}

// Entries 2^lg + j as sums of entries 2^lg and j, j in [1, 2^lg] (for lg = 15 without the last, which would be 2^16).
template <class F>
struct table_pairs_t {
    using entry_t = uint4;
    static constexpr bool listed = false;

    affine_t<F> *table;
    uint32_t lg;

    CZK_INDEX uint32_t entries() const { return lg + 1 == lg_fixed_entries ? (1u << lg) - 1 : 1u << lg; }
    CZK_FN addition_t<F> make(const table_pairs_t &source, uint32_t k) {
        const uint32_t window = k / source.entries(), j = k % source.entries() + 1;
        affine_t<F> *base = source.table + (window << lg_fixed_entries);
        affine_t<F> *out = base + (1u << source.lg) + j;
        return {base + j, base + (1u << source.lg), false, false, out};
    }
};

// Cuts canonical scalars in digits of 16 bits, and starts each sum with the lowest window's entry.
template <class F>
__global__ void cut_fixed_digits(const void *scalars, int32_t canonical, uint32_t count, uint16_t *digits,
                                 const affine_t<F> *table, affine_t<F> *points) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    scalar_words_t words;
    if (canonical) {
        words = load_words(static_cast<const aligned_scalar_t *>(scalars) + i).words;
    } else {
        fr_to_canonical(words.word, load_words(static_cast<const fr_t *>(scalars) + i));
    }
    for (uint32_t w = 0; w < fixed_windows; w++) digits[i * fixed_windows + w] = uint16_t(words.word[w / 2] >> 16 * (w % 2));
    store_words(points + i, load_words(table + (words.word[0] & 0xffff)));
}

// Adds window `window`'s entry to every sum.
template <class F>
struct fixed_pairs_t {
    using entry_t = uint4;
    static constexpr bool listed = false;

    const affine_t<F> *table;
    const uint16_t *digits;
    uint32_t window;
    affine_t<F> *points;

    CZK_FN addition_t<F> make(const fixed_pairs_t &source, uint32_t k) {
        const uint32_t digit = source.digits[k * fixed_windows + source.window];
        affine_t<F> *point = source.points + k;
        return {point, source.table + (source.window << lg_fixed_entries) + digit, false, false, point};
    }
};

template <class F>
czk_status_t fixed_base(const void *d_powers, const void *d_scalars, int32_t canonical, uint64_t count, void *d_points,
                        void *d_workspace, uint64_t workspace_bytes, cudaStream_t stream, const czk_poll_t *poll) {
    const fixed_space_t<F> space(d_workspace);
    CZK_REQUIRE(space.bytes <= workspace_bytes, CZK_WORKSPACE);
    device_shape_t device;
    CZK_TRY(read_device_shape(device));
    pacer_t pacer(poll, stream);
    CZK_LAUNCH(start_table<F><<<1, 32, 0, stream>>>(static_cast<const affine_t<F> *>(d_powers), space.table));
    for (uint32_t lg = 0; lg < lg_fixed_entries; lg++) {
        table_pairs_t<F> source{space.table, lg};
        CZK_TRY(launch_add_pairs<F>(source, uint64_t(source.entries()) * fixed_windows, space.before, device, stream, pacer));
    }
    for (uint64_t begin = 0; begin < count; begin += fixed_chunk) {
        const uint32_t chunk = uint32_t(count - begin < fixed_chunk ? count - begin : fixed_chunk);
        affine_t<F> *points = static_cast<affine_t<F> *>(d_points) + begin;
        const void *scalars = static_cast<const unsigned char *>(d_scalars) + begin * sizeof(scalar_words_t);
        CZK_LAUNCH(cut_fixed_digits<F><<<blocks_for(chunk, 256), 256, 0, stream>>>(scalars, canonical, chunk, space.digits,
                                                                                  space.table, points));
        for (uint32_t window = 1; window < fixed_windows; window++) {
            fixed_pairs_t<F> source{space.table, space.digits, window, points};
            CZK_TRY(launch_add_pairs<F>(source, chunk, space.before, device, stream, pacer));
        }
    }
    return ok();
}

} // namespace czk
