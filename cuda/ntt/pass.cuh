// One pass of a transform: 2^s-point transforms along one digit of the index, for a tile of them in shared memory.
//
// A transform of 2^lg points is split into digits of s1 + s2 + … = lg bits (at most 9 each), one pass per digit:
//     X[k] = sum over n of a[n] w^(n k),  n = n1 2^(lg - s1) + … + np,  k = k1 + k2 2^s1 + … + kp 2^(lg - sp).
// Pass i transforms digit n_i into k_i in place, then multiplies by w^(K_i n_(i+1) 2^…), K_i = k1 + k2 2^s1 + … + k_i, a
// root of order 2^(s1 + … + s_(i+1)): the *gap* before the next digit. So every gap but the last is small and comes from
// one table; two factors make the last one.
//
// On the coset g w^k, g = w_2n: the first digit enters with g^(n1 2^(lg - s1)), a root of order 2^(s1 + 1), and each gap
// is that of 2 K + 1 instead of K, one order higher. Back from the coset: g^-k splits likewise, so that the last gap is
// that of 2 np + 1 and the output digit leaves with a root of order 2^(sp + 1).
//
// Where digits lie. "Reversing" passes start from natural order; k1 then stands at the top of the index, kp at the
// bottom, and it is the digits already done that stand above. "Restoring" passes start from that order, lowest digit of
// the address first, and end in natural order, without a pass that only moves: this is how the coefficients between an
// inverse and a forward transform stand. Alone, a transform's last reversing pass writes to natural places of another
// vector.
//
// An inverse is the forward transform read at -k: digit k leaves from place -k mod 2^s, and factors are those of -e.
//
// The phases below are run by every thread of a block, with a barrier after each. On the host a loop over the threads
// stands for the block, and the same code is tested against the definition (tests/cuda_ntt.rs).
#pragma once

#include "field/fr_convert.cuh"
#include "ntt/butterfly.cuh"

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
};

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
// the power l reverse(m) of the root of order 2^lg_block: eight halves, each as far from the next as there are values of
// l, so that neighbouring lanes read neighbouring halves. Blocks of 2^4, 2^5 … 2^9 rows one behind the other.
constexpr uint32_t NTT_LOCAL_HALVES = 56 * ((1u << (NTT_LG_DIGIT - 2)) - 2);

CZK_FN uint32_t ntt_local_place(uint32_t lg_block, uint32_t m, uint32_t l) {
    uint32_t values = 1u << (lg_block - 3);
    return 56 * (values - 2) + 8 * (m - 1) * values + l;
}

// Entry n of the table, n < NTT_LOCAL_HALVES / 8: counts l, then m, then the blocks.
CZK_FN void ntt_local_entry(half_t *table, uint32_t n) {
    uint32_t lg_block = 4;
    for (; n >= 7u << (lg_block - 3); lg_block++) n -= 7u << (lg_block - 3);
    uint32_t values = 1u << (lg_block - 3), m = 1 + n / values, l = n % values;
    uint64_t e = l * ntt_reverse_bits(m, 3);
    fr_twiddle_t t = fr_twiddle(fr_pow(fr_root(), e << (32 - lg_block)));
    for (uint32_t j = 0; j < 8; j++) {
        const uint32_t *w = t.row[j / 2].w + 4 * (j % 2);
        table[ntt_local_place(lg_block, m, l) + j * values] = half_t{{w[0], w[1], w[2], w[3]}};
    }
}

CZK_FN fr_twiddle_t ntt_load_twiddle(const half_t *from, uint32_t lg_block) {
    fr_twiddle_t t;
    for (int j = 0; j < 4; j++) {
#ifdef __CUDACC__
        const uint4 *h = reinterpret_cast<const uint4 *>(from) + (j << (lg_block - 2));
        uint4 a = __ldg(h), b = __ldg(h + (1u << (lg_block - 3)));
        t.row[j] = fr_t{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
        const half_t a = from[j << (lg_block - 2)], b = from[(2 * j + 1) << (lg_block - 3)];
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
// different banks also where the rows differ in bit 3 or 8 alone.
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

// Multiplies the thread's elements, that of row k at where(k), by hi's factor and, if `factor` says so, by lo's. The next
// element's row of hi is fetched while this one is multiplied.
template <class Where>
CZK_FN void ntt_multiply(const ntt_pass_t &p, ntt_shared_t &s, const ntt_own_t &own, ntt_factor_t factor, Where where) {
    if (own.row >> p.lg_rows != 0) return;
    ntt_at_t next = where(own.row);
    fr_rows_t next_rows = ntt_load_rows(p.hi + (next.e >> NTT_LG_LO));
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (uint32_t k = own.row; k >> p.lg_rows == 0; k += own.step) {
        ntt_at_t at = next;
        fr_rows_t rows = next_rows, low;
        if (factor == NTT_HI_LO) low = ntt_load_rows(p.lo + (at.e & ((1u << NTT_LG_LO) - 1)));
        if ((k + own.step) >> p.lg_rows == 0) {
            next = where(k + own.step);
            next_rows = ntt_load_rows(p.hi + (next.e >> NTT_LG_LO));
        }
        fr_t u = fr_mul(ntt_get(s, at.slot), rows);
        if (factor == NTT_HI_LO) u = fr_mul(u, low);
        ntt_put(s, at.slot, u);
    }
}

// u k 2^-32, narrow. 12 W, 66 A. A digit is below (2^64 - 1) + 0.83 2^64 and above -1 before it is narrowed.
CZK_FN fr_t fr_mul_small(const fr_t &u, uint32_t k) {
    uint32_t c[4][3];
    for (int d = 0; d < 4; d++) {
        mul_wide(c[d][0], c[d][1], u.w[2 * d], k);
        c[d][2] = 0;
        mad_wide(c[d][1], c[d][2], u.w[2 * d + 1], k);
    }
    fr_step_t s = fr_step(c[0][0], c[1][0], c[2][0], c[3][0]);
    fr_wide_t t;
    for (int d = 0; d < 4; d++) {
        mad_wide_cc(c[d][1], c[d][2], X_HIGH, s.h[d]);
        t.w[3 * d] = c[d][1];
        t.w[3 * d + 1] = c[d][2];
        t.w[3 * d + 2] = addc(0, 0);
    }
    const int32_t extra[4] = {int32_t(s.up[0]), int32_t(s.up[1] - s.borrow), int32_t(s.up[2]), int32_t(s.up[3])};
    return fr_narrow(t, extra);
}

CZK_FN void ntt_load_phase(const ntt_pass_t &p, ntt_shared_t &s, uint32_t tile, uint32_t thread) {
    ntt_own_t own = ntt_own(p, thread);
    ntt_line_t line = ntt_line(p, tile, own.column);
    uint32_t lg_columns = ntt_lg_columns(p);
    fr_t u[NTT_EACH];
    // All loads are under way before the first is used.
    for (uint32_t j = 0; j < NTT_EACH; j++) {
        uint32_t row = own.row + j * own.step;
        u[j] = fr_zero();
        if (row >> p.lg_rows == 0 && line.inside) u[j] = ntt_load(p.in + ntt_address(p, line, row));
    }
    for (uint32_t j = 0; j < NTT_EACH; j++) {
        uint32_t row = own.row + j * own.step;
        if (row >> p.lg_rows == 0) ntt_put(s, ntt_slot(row, own.column, lg_columns), u[j]);
    }
    if (p.in_2 != nullptr && line.inside) {
#ifdef __CUDACC__
#pragma unroll 1
#endif
        for (uint32_t row = own.row; row >> p.lg_rows == 0; row += own.step) {
            uint32_t slot = ntt_slot(row, own.column, lg_columns);
            fr_t v = ntt_load(p.in_2 + ntt_address(p, line, row));
            ntt_put(s, slot, fr_mul(ntt_get(s, slot), v));
        }
    }
    if (p.load != NTT_ONE) {
        ntt_multiply(p, s, own, p.load, [&](uint32_t row) {
            return ntt_at(ntt_slot(row, own.column, lg_columns), row, p.lg_rows + 1, 0);
        });
    }
}

// One stage of radix 2^lg_radix on blocks of 2^lg_block rows: butterflies, then twiddles by the same thread.
template <int lg_radix>
CZK_FN void ntt_stage_phase(const ntt_pass_t &p, ntt_shared_t &s, uint32_t thread, uint32_t lg_block) {
    constexpr uint32_t radix = 1u << lg_radix;
    uint32_t lg_columns = ntt_lg_columns(p), lg_quarter = lg_block - lg_radix;
    uint32_t count = 1u << (p.lg_rows + lg_columns - lg_radix);
    for (uint32_t n = thread; n < count; n += NTT_THREADS) {
        uint32_t column = n & ((1u << lg_columns) - 1), butterfly = n >> lg_columns;
        uint32_t l = butterfly & ((1u << lg_quarter) - 1);
        uint32_t first = (butterfly >> lg_quarter << lg_block) + l;
        fr_t a[radix];
        for (uint32_t m = 0; m < radix; m++) a[m] = ntt_get(s, ntt_slot(first + (m << lg_quarter), column, lg_columns));
        if (lg_radix == 3) butterfly_8(a);
        if (lg_radix == 2) butterfly_4(a);
        if (lg_radix == 1) butterfly_2(a);
        for (uint32_t m = 0; m < radix; m++) ntt_put(s, ntt_slot(first + (m << lg_quarter), column, lg_columns), a[m]);
        if (lg_quarter == 0) continue;
        const half_t *local = p.local + ntt_local_place(lg_block, 1, l);
        fr_twiddle_t next = ntt_load_twiddle(local, lg_block);
#ifdef __CUDACC__
#pragma unroll 1
#endif
        for (uint32_t m = 1; m < radix; m++) {
            fr_twiddle_t twiddle = next;
            local += 1u << lg_block; // eight halves for each l
#ifdef NO_PREFETCH
            twiddle = ntt_load_twiddle(local - (1u << lg_block), lg_block);
#else
            if (m + 1 < radix) next = ntt_load_twiddle(local, lg_block);
#endif
            uint32_t slot = ntt_slot(first + (m << lg_quarter), column, lg_columns);
            ntt_put(s, slot, fr_mul(ntt_get(s, slot), twiddle));
        }
    }
}

// Between the transforms of a fused pass: multiplies in place, first digit's output k at place reverse(+-k).
CZK_FN void ntt_middle_phase(const ntt_pass_t &p, ntt_shared_t &s, uint32_t tile, uint32_t thread) {
    ntt_own_t own = ntt_own(p, thread);
    uint32_t lg_columns = ntt_lg_columns(p), mask = (1u << p.lg_rows) - 1;
    auto digit = [&](uint32_t place) {
        uint32_t k = ntt_reverse_bits(place, p.lg_rows);
        return (p.inverse ? 0 - k : k) & mask;
    };
    if (p.middle == NTT_TO_COSET) {
        ntt_multiply(p, s, own, NTT_HI, [&](uint32_t place) {
            return ntt_at(ntt_slot(place, own.column, lg_columns), digit(place), p.lg_rows + 1, 0);
        });
        return;
    }
    uint32_t done = ntt_done(p, ntt_line(p, tile, own.column).above);
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (uint32_t place = own.row; place >> p.lg_rows == 0; place += own.step) {
        uint32_t slot = ntt_slot(place, own.column, lg_columns);
        ntt_put(s, slot, fr_mul_small(ntt_get(s, slot), done + (digit(place) << (p.lg_size - p.lg_rows))));
    }
}

// Puts the first transform's outputs into natural order: reads eight elements, then, behind a barrier, writes them.
struct ntt_eight_t {
    fr_t u[NTT_EACH];
};

CZK_FN void ntt_collect_phase(const ntt_pass_t &p, const ntt_shared_t &s, uint32_t thread, ntt_eight_t &eight) {
    ntt_own_t own = ntt_own(p, thread);
    for (uint32_t j = 0; j < NTT_EACH; j++) {
        uint32_t place = own.row + j * own.step;
        if (place >> p.lg_rows == 0) eight.u[j] = ntt_get(s, ntt_slot(place, own.column, ntt_lg_columns(p)));
    }
}

CZK_FN void ntt_place_phase(const ntt_pass_t &p, ntt_shared_t &s, uint32_t thread, const ntt_eight_t &eight) {
    ntt_own_t own = ntt_own(p, thread);
    for (uint32_t j = 0; j < NTT_EACH; j++) {
        uint32_t place = own.row + j * own.step, k = ntt_reverse_bits(place, p.lg_rows);
        if (p.inverse) k = (0 - k) & ((1u << p.lg_rows) - 1);
        if (place >> p.lg_rows == 0) ntt_put(s, ntt_slot(k, own.column, ntt_lg_columns(p)), eight.u[j]);
    }
}

CZK_FN void ntt_store_phase(const ntt_pass_t &p, ntt_shared_t &s, uint32_t tile, uint32_t thread) {
    ntt_own_t own = ntt_own(p, thread);
    ntt_line_t line = ntt_line(p, tile, own.column);
    uint32_t lg_columns = ntt_lg_columns(p), mask = (1u << p.lg_rows) - 1;
    // A fused pass ends with a forward transform.
    uint32_t inverse = p.middle == NTT_NO_MIDDLE ? p.inverse : 0;
    auto slot = [&](uint32_t k) {
        return ntt_slot(ntt_reverse_bits((inverse ? 0 - k : k) & mask, p.lg_rows), own.column, lg_columns);
    };
    // The index so far is done + (k << lg_done), digit k of this pass included.
    uint32_t lg_done = p.order == NTT_RESTORING ? p.lg_stride : p.lg_size - p.lg_stride - p.lg_rows;
    uint32_t done = p.order == NTT_RESTORING   ? line.below
                    : p.order == NTT_REVERSING ? ntt_done(p, line.above)
                                               : (tile << lg_columns) + own.column;
    if (p.store != NTT_ONE) {
        uint32_t next = p.order == NTT_RESTORING ? line.above & ((1u << p.next_bits) - 1)
                                                 : line.below >> (p.lg_stride - p.next_bits);
        uint32_t by = (next << p.next_odd) + p.next_odd;
        ntt_multiply(p, s, own, p.store, [&](uint32_t k) {
            uint32_t all = p.own_digit_only ? k : done + (k << lg_done);
            return ntt_at(slot(k), ((all << p.k_odd) + p.k_odd) * by, p.lg_order, inverse);
        });
    }
    if (!line.inside) return;
    for (uint32_t j = 0; j < NTT_EACH; j++) {
        uint32_t k = own.row + j * own.step;
        if (k >> p.lg_rows != 0) break;
        fr_t u = ntt_get(s, slot(k));
        uint64_t address = p.order == NTT_REVERSING_LAST ? done + (k << lg_done) : ntt_address(p, line, k);
        if (p.subtract) u = fr_sub(ntt_load(p.out + address), u);
        ntt_store(p.out + address, u);
    }
}

// All stages of the tile's transforms: radix 8, then what is left.
template <class Each> CZK_FN void ntt_transform(const ntt_pass_t &p, ntt_shared_t &s, Each each) {
    uint32_t lg_block = p.lg_rows;
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (; lg_block >= 3; lg_block -= 3) each([&](uint32_t thread) { ntt_stage_phase<3>(p, s, thread, lg_block); });
    if (lg_block == 2) each([&](uint32_t thread) { ntt_stage_phase<2>(p, s, thread, 2); });
    if (lg_block == 1) each([&](uint32_t thread) { ntt_stage_phase<1>(p, s, thread, 1); });
}

// A block's program. each(f) runs f for every thread of the block and then a barrier; eight(thread) is that thread's
// private room.
template <class Each, class Eight>
CZK_FN void ntt_block(const ntt_pass_t &p, ntt_shared_t &s, uint32_t tile, Each each, Eight eight) {
    each([&](uint32_t thread) { ntt_load_phase(p, s, tile, thread); });
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (int transform = 0;; transform++) {
        ntt_transform(p, s, each);
        if (p.middle == NTT_NO_MIDDLE || transform == 1) break;
        each([&](uint32_t thread) {
            ntt_middle_phase(p, s, tile, thread);
            ntt_collect_phase(p, s, thread, eight(thread));
        });
        each([&](uint32_t thread) { ntt_place_phase(p, s, thread, eight(thread)); });
    }
    each([&](uint32_t thread) { ntt_store_phase(p, s, tile, thread); });
}

} // namespace czk
