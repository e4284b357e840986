// A tile of a pass: the pass's parameters, the tile's places in device and shared memory, its factors. What a pass does
// with them stands in pass.cuh.
#pragma once

#include "field/fr_convert.cuh"

namespace czk {

constexpr uint32_t NTT_THREADS = 256;
constexpr uint32_t NTT_LG_TILE = 11;
constexpr uint32_t NTT_TILE = 1u << NTT_LG_TILE; // elements: 8 a thread, 64 KiB
constexpr uint32_t NTT_EACH = NTT_TILE / NTT_THREADS;
constexpr uint32_t NTT_LG_DIGIT = 9;
// Factors are powers of the root of order 2^29: hi has every 2^10-th, lo the first 2^10.
constexpr uint32_t NTT_LG_ORDER = 29;
constexpr uint32_t NTT_LG_LO = 10;
constexpr uint32_t NTT_LG_HI = NTT_LG_ORDER - NTT_LG_LO;

// Half an element: what one shared or global access moves. Two planes of halves, so that a warp's accesses are free of
// bank conflicts.
struct alignas(16) half_t {
    uint32_t w[4];
};

struct ntt_shared_t {
    half_t plane[2][NTT_TILE];
    half_t folded[4][NTT_THREADS]; // for folding passes alone
};

constexpr uint32_t NTT_SHARED_BYTES = sizeof(half_t[2][NTT_TILE]);

enum ntt_order_t : uint32_t { NTT_REVERSING, NTT_RESTORING, NTT_REVERSING_LAST };

// How many tables make a factor: none (1), hi alone (order up to 2^19), or hi times lo, which may carry a constant.
enum ntt_factor_t : uint32_t { NTT_ONE, NTT_HI, NTT_HI_LO };

// What stands between the two transforms of a fused pass.
enum ntt_middle_t : uint32_t { NTT_NO_MIDDLE, NTT_TO_COSET, NTT_TIMES_INDEX };

// A pass, the same for all blocks.
struct ntt_pass_t {
    const fr_t *in, *in_2;  // with in_2 the input is the product of both, place by place
    fr_t *out;
    const fr_rows_t *hi, *lo;
    const half_t *local; // twiddles between stages: ntt_local_place
    ntt_order_t order;
    uint32_t lg_size, lg_rows, lg_stride; // 2^lg_rows rows of a transform, 2^lg_stride apart
    uint32_t digits[4], digit_count;      // sizes of the digits done, from the top of the address (reversing)
    uint32_t inverse;                     // of the (first) transform
    ntt_factor_t load;                    // row's power of a root of order 2^(lg_rows + 1)
    ntt_middle_t middle;
    ntt_factor_t store;
    // The factor of the gap: ((K << k_odd) + k_odd) ((v << next_odd) + next_odd) at order 2^lg_order, v the next digit of
    // next_bits. With own_digit_only K is this pass's digit alone, unshifted (the way back from a coset).
    uint32_t next_bits, k_odd, next_odd, lg_order, own_digit_only;
    uint32_t subtract; // out -= result instead of out = result
    // The part of a gap's factor that is the same for a whole column (that of the digits done, with lo's constant) is
    // taken into the 56 twiddles of the second stage, instead of a product for each of 512 elements.
    uint32_t fold;
};

CZK_FN uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The transforms side by side in a tile.
CZK_FN uint32_t ntt_lg_columns(const ntt_pass_t &p) {
    uint32_t room = NTT_LG_TILE - p.lg_rows;
    return room < 8 ? room : 8;
}

CZK_FN uint32_t ntt_reverse_bits(uint32_t value, uint32_t bits) {
#ifdef __CUDACC__
    return __brev(value) >> (32 - bits);
#else
    uint32_t out = 0;
    for (uint32_t k = 0; k < bits; k++) out |= (value >> k & 1) << (bits - 1 - k);
    return out;
#endif
}

CZK_FN fr_t ntt_load(const fr_t *from) {
#ifdef __CUDACC__
    const uint4 *h = reinterpret_cast<const uint4 *>(from);
    uint4 a = h[0], b = h[1];
    return fr_t{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
    return *from;
#endif
}

CZK_FN void ntt_store(fr_t *to, const fr_t &u) {
#ifdef __CUDACC__
    uint4 *h = reinterpret_cast<uint4 *>(to);
    h[0] = make_uint4(u.w[0], u.w[1], u.w[2], u.w[3]);
    h[1] = make_uint4(u.w[4], u.w[5], u.w[6], u.w[7]);
#else
    *to = u;
#endif
}

// Tables are read-only while kernels run.
CZK_FN fr_t ntt_load_constant(const fr_t *from) {
#ifdef __CUDACC__
    const uint4 *h = reinterpret_cast<const uint4 *>(from);
    uint4 a = __ldg(h), b = __ldg(h + 1);
    return fr_t{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
    return *from;
#endif
}

CZK_FN fr_rows_t ntt_load_rows(const fr_rows_t *from) {
    return fr_rows_t{ntt_load_constant(&from->w), ntt_load_constant(&from->xw)};
}

// Twiddles between stages of radix 8. A block of 2^lg_block rows has, for output place m = 1 … 7 and l < 2^(lg_block - 3),
// the power l reverse(m) of the root of order 2^lg_block: eight halves, each 8 places behind the other, so that eight
// neighbouring lanes read eight neighbouring halves. Blocks of 2^4, 2^5 … 2^9 rows one behind the other; for the first two
// some of every eight places stay unused.
CZK_FN uint32_t ntt_local_values(uint32_t lg_block) { return lg_block < 6 ? 8 : 1u << (lg_block - 3); }

CZK_FN uint32_t ntt_local_place(uint32_t lg_block, uint32_t m, uint32_t l) {
    uint32_t values = ntt_local_values(lg_block), first = lg_block < 6 ? 448 * (lg_block - 4) : 448 + 56 * values;
    return first + 8 * (m - 1) * values + l / 8 * 64 + l % 8;
}

constexpr uint32_t NTT_LOCAL_HALVES = 448 + (56u << (NTT_LG_DIGIT - 2)); // where blocks of 2^10 would begin

// Entry n of the table, n < NTT_LOCAL_ENTRIES: counts l, then m, then the blocks.
constexpr uint32_t NTT_LOCAL_ENTRIES = 7 * ((1u << (NTT_LG_DIGIT - 2)) - 2);

CZK_FN void ntt_local_entry(half_t *table, uint32_t n) {
    uint32_t lg_block = 4;
    for (; n >= 7u << (lg_block - 3); lg_block++) n -= 7u << (lg_block - 3);
    uint32_t values = 1u << (lg_block - 3), m = 1 + n / values, l = n % values;
    uint64_t e = l * ntt_reverse_bits(m, 3);
    fr_twiddle_t t = fr_twiddle(fr_pow(fr_root(), e << (32 - lg_block)));
    for (uint32_t j = 0; j < 8; j++) {
        const uint32_t *w = t.row[j / 2].w + 4 * (j % 2);
        table[ntt_local_place(lg_block, m, l) + 8 * j] = half_t{{w[0], w[1], w[2], w[3]}};
    }
}

CZK_FN fr_twiddle_t ntt_load_twiddle(const half_t *from) {
    fr_twiddle_t t;
    for (int j = 0; j < 4; j++) {
#ifdef __CUDACC__
        const uint4 *h = reinterpret_cast<const uint4 *>(from) + 16 * j;
        uint4 a = __ldg(h), b = __ldg(h + 8);
        t.row[j] = fr_t{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
        const half_t a = from[16 * j], b = from[16 * j + 8];
        t.row[j] = fr_t{{a.w[0], a.w[1], a.w[2], a.w[3], b.w[0], b.w[1], b.w[2], b.w[3]}};
#endif
    }
    return t;
}

// The constant that table `table` of lo carries (plan.cuh): 1, then 2^-lg, then 2^32 2^-lg.
CZK_FN fr_t ntt_lo_constant(uint32_t table) {
    const uint32_t half[8] = {0x80000001, 0x7fffffff, 0x7fff2dff, 0xa9ded201,
                              0x04d0ec02, 0x199cec04, 0x94cebea4, 0x39f6d3a9};
    const uint32_t two_32[8] = {0, 1, 0, 0, 0, 0, 0, 0};
    if (table == 0) return fr_one();
    fr_t inverse = fr_pow(fr_from_canonical(half), table <= 30 ? table - 1 : table - 31);
    return table <= 30 ? inverse : fr_mul(inverse, fr_from_canonical(two_32));
}

// Place of (row, column) in a plane. With 4 columns, 8 lanes read two rows of 64 bytes; the flipped bit sets them in
// different banks also where the rows differ in bit 3 or 8 alone. Linear: the slot of rows a | b without common bits is
// that of a xor that of b in column 0.
CZK_FN uint32_t ntt_slot(uint32_t row, uint32_t column, uint32_t lg_columns) {
    uint32_t slot = row << lg_columns | column;
    return lg_columns == 2 ? slot ^ ((row >> 3 ^ row >> 8) & 1) << 2 : slot;
}

CZK_FN fr_t ntt_get(const ntt_shared_t &s, uint32_t slot) {
    fr_t u;
    half_t a = s.plane[0][slot], b = s.plane[1][slot];
    for (int k = 0; k < 4; k++) {
        u.w[k] = a.w[k];
        u.w[k + 4] = b.w[k];
    }
    return u;
}

CZK_FN void ntt_put(ntt_shared_t &s, uint32_t slot, const fr_t &u) {
    s.plane[0][slot] = half_t{{u.w[0], u.w[1], u.w[2], u.w[3]}};
    s.plane[1][slot] = half_t{{u.w[4], u.w[5], u.w[6], u.w[7]}};
}

// The tile's column as parts of the address: above and below this pass's digit.
struct ntt_line_t {
    uint32_t above, below;
    bool inside;
};

// Digits from the top of `value` (which has `bits` of them in all) to the number whose lowest digit the first is.
CZK_FN uint32_t ntt_done(const ntt_pass_t &p, uint32_t value) {
    uint32_t left = 0, out = 0;
    for (uint32_t d = 0; d < p.digit_count; d++) left += p.digits[d];
    for (uint32_t d = 0, shift = 0; d < p.digit_count; d++) {
        left -= p.digits[d];
        out |= (value >> left & ((1u << p.digits[d]) - 1)) << shift;
        shift += p.digits[d];
    }
    return out;
}

// The inverse of ntt_done.
CZK_FN uint32_t ntt_undone(const ntt_pass_t &p, uint32_t value) {
    uint32_t out = 0;
    for (uint32_t d = 0; d < p.digit_count; d++) {
        out = out << p.digits[d] | (value & ((1u << p.digits[d]) - 1));
        value >>= p.digits[d];
    }
    return out;
}

CZK_FN ntt_line_t ntt_line(const ntt_pass_t &p, uint32_t tile, uint32_t column) {
    uint32_t line = (tile << ntt_lg_columns(p)) + column;
    ntt_line_t out;
    out.inside = line >> (p.lg_size - p.lg_rows) == 0;
    out.below = line & ((1u << p.lg_stride) - 1);
    out.above = p.order == NTT_REVERSING_LAST ? ntt_undone(p, line) : line >> p.lg_stride;
    return out;
}

CZK_FN uint64_t ntt_address(const ntt_pass_t &p, const ntt_line_t &line, uint32_t row) {
    return (uint64_t(line.above) << p.lg_rows | row) << p.lg_stride | line.below;
}

// What a column's gap is made of: index = done + (k << lg_done) for output digit k, by = the next digit's part.
struct ntt_gap_t {
    uint32_t done, lg_done, by;
};

CZK_FN ntt_gap_t ntt_gap(const ntt_pass_t &p, const ntt_line_t &line, uint32_t tile, uint32_t column) {
    ntt_gap_t gap;
    uint32_t next = line.above & ((1u << p.next_bits) - 1);
    if (p.order == NTT_RESTORING) {
        gap.lg_done = p.lg_stride;
        gap.done = line.below;
    } else {
        gap.lg_done = p.lg_size - p.lg_stride - p.lg_rows;
        gap.done = p.order == NTT_REVERSING ? ntt_done(p, line.above) : (tile << ntt_lg_columns(p)) + column;
        next = line.below >> (p.lg_stride - p.next_bits);
    }
    gap.by = (next << p.next_odd) + p.next_odd;
    return gap;
}

// A thread's elements of a tile: one column, and of it at most eight rows, `step` apart.
struct ntt_own_t {
    uint32_t column, row, step;
};

CZK_FN ntt_own_t ntt_own(const ntt_pass_t &p, uint32_t thread) {
    uint32_t lg_columns = ntt_lg_columns(p);
    return ntt_own_t{thread & ((1u << lg_columns) - 1), thread >> lg_columns, NTT_THREADS >> lg_columns};
}

// What one element of a tile is multiplied by: its slot, and the power of the root of order 2^29.
struct ntt_at_t {
    uint32_t slot, e;
};

CZK_FN ntt_at_t ntt_at(uint32_t slot, uint32_t e, uint32_t lg_order, uint32_t inverse) {
    if (inverse) e = 0 - e;
    return ntt_at_t{slot, e << (NTT_LG_ORDER - lg_order) & ((1u << NTT_LG_ORDER) - 1)};
}

} // namespace czk
