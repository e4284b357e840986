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

#include "ntt/butterfly.cuh"
#include "ntt/tile.cuh"

namespace czk {

// Multiplies the thread's elements, that of row k at where(k), by hi's factor and, if `factor` says so, by lo's. The next
// element's row of hi is fetched while this one is multiplied.
template <class Where>
CZK_FN void ntt_multiply(const ntt_pass_t &p, ntt_shared_t &s, const ntt_own_t &own, ntt_factor_t factor, Where where) {
    if (own.row >> p.lg_rows != 0) return;
    ntt_at_t at = where(own.row);
    fr_rows_t rows = ntt_load_rows(p.hi + (at.e >> NTT_LG_LO));
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (uint32_t k = own.row; k >> p.lg_rows == 0; k += own.step) {
        uint32_t slot = at.slot, low = at.e & ((1u << NTT_LG_LO) - 1);
        fr_t u = fr_mul(ntt_get(s, slot), rows);
        if (factor == NTT_HI_LO) u = fr_mul(u, ntt_load_rows(p.lo + low));
        if ((k + own.step) >> p.lg_rows == 0) {
            at = where(k + own.step);
            rows = ntt_load_rows(p.hi + (at.e >> NTT_LG_LO));
        }
        ntt_put(s, slot, u);
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

// The second stage's twiddles of each column, times the column's part of the gap's factor: a thread for each of output
// places m = 0 … 7, l < 8 and four columns.
CZK_FN void ntt_fold_phase(const ntt_pass_t &p, ntt_shared_t &s, uint32_t tile, uint32_t thread) {
    uint32_t m = thread >> 5, l = thread >> 2 & 7, column = thread & 3;
    ntt_gap_t gap = ntt_gap(p, ntt_line(p, tile, column), tile, column);
    uint32_t e = ntt_at(0, ((gap.done << p.k_odd) + p.k_odd) * gap.by, p.lg_order, p.inverse).e;
    fr_rows_t low = ntt_load_rows(p.lo + (e & ((1u << NTT_LG_LO) - 1)));
    fr_t c = fr_mul(ntt_load_constant(&p.hi[e >> NTT_LG_LO].w), low);
    if (m > 0) c = fr_mul(c, ntt_load_twiddle(p.local + ntt_local_place(6, m, l)));
    fr_rows_t rows = fr_rows(c);
    for (uint32_t j = 0; j < 4; j++) {
        const uint32_t *w = (j < 2 ? rows.w : rows.xw).w + 4 * (j % 2);
        s.folded[j][thread] = half_t{{w[0], w[1], w[2], w[3]}};
    }
}

CZK_FN fr_rows_t ntt_folded(const ntt_shared_t &s, uint32_t place) {
    fr_rows_t rows;
    for (uint32_t k = 0; k < 4; k++) {
        rows.w.w[k] = s.folded[0][place].w[k];
        rows.w.w[k + 4] = s.folded[1][place].w[k];
        rows.xw.w[k] = s.folded[2][place].w[k];
        rows.xw.w[k + 4] = s.folded[3][place].w[k];
    }
    return rows;
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
        uint32_t slot = ntt_slot(first, column, lg_columns), place[radix];
        fr_t a[radix];
        for (uint32_t m = 0; m < radix; m++) {
            place[m] = slot ^ ntt_slot(m << lg_quarter, 0, lg_columns);
            a[m] = ntt_get(s, place[m]);
        }
        if (lg_radix == 3) butterfly_8(a);
        if (lg_radix == 2) butterfly_4(a);
        if (lg_radix == 1) butterfly_2(a);
        for (uint32_t m = 0; m < radix; m++) ntt_put(s, place[m], a[m]);
        if (lg_quarter == 0) continue;
        if (lg_block == 6 && p.fold) {
#ifdef __CUDACC__
#pragma unroll 1
#endif
            for (uint32_t m = 0; m < radix; m++) {
                uint32_t at = slot ^ ntt_slot(m << lg_quarter, 0, lg_columns);
                ntt_put(s, at, fr_mul(ntt_get(s, at), ntt_folded(s, m << 5 | l << 2 | column)));
            }
            continue;
        }
        const half_t *local = p.local + ntt_local_place(lg_block, 1, l);
        fr_twiddle_t twiddle = ntt_load_twiddle(local);
#ifdef __CUDACC__
#pragma unroll 1
#endif
        for (uint32_t m = 1; m < radix; m++) {
            uint32_t at = slot ^ ntt_slot(m << lg_quarter, 0, lg_columns);
            fr_t u = fr_mul(ntt_get(s, at), twiddle);
            local += 8 * ntt_local_values(lg_block);
            if (m + 1 < radix) twiddle = ntt_load_twiddle(local);
            ntt_put(s, at, u);
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
    ntt_gap_t gap = ntt_gap(p, line, tile, own.column);
    if (p.fold) {
        // What the twiddles have not taken: k's own part, of an order that hi alone has.
        ntt_multiply(p, s, own, NTT_HI, [&](uint32_t k) {
            return ntt_at(slot(k), k * gap.by, p.lg_order - gap.lg_done - p.k_odd, inverse);
        });
    } else if (p.store != NTT_ONE) {
        ntt_multiply(p, s, own, p.store, [&](uint32_t k) {
            uint32_t all = p.own_digit_only ? k : gap.done + (k << gap.lg_done);
            return ntt_at(slot(k), ((all << p.k_odd) + p.k_odd) * gap.by, p.lg_order, inverse);
        });
    }
    if (!line.inside) return;
    for (uint32_t j = 0; j < NTT_EACH; j++) {
        uint32_t k = own.row + j * own.step;
        if (k >> p.lg_rows != 0) break;
        fr_t u = ntt_get(s, slot(k));
        uint64_t address = p.order == NTT_REVERSING_LAST ? gap.done + (k << gap.lg_done) : ntt_address(p, line, k);
        if (p.subtract) u = fr_sub(ntt_load(p.out + address), u);
        ntt_store(p.out + address, u);
    }
}

// All stages of the tile's transforms: radix 8, then what is left of the digit.
template <class Each> CZK_FN void ntt_transform(const ntt_pass_t &p, ntt_shared_t &s, Each each) {
    // Sizes known when compiling make the places of a stage constants.
    if (p.lg_rows == 9) {
        each([&](uint32_t thread) { ntt_stage_phase<3>(p, s, thread, 9); });
        each([&](uint32_t thread) { ntt_stage_phase<3>(p, s, thread, 6); });
        each([&](uint32_t thread) { ntt_stage_phase<3>(p, s, thread, 3); });
        return;
    }
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
    each([&](uint32_t thread) {
        ntt_load_phase(p, s, tile, thread);
        if (p.fold) ntt_fold_phase(p, s, tile, thread);
    });
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
