// Which passes make a transform. Host code only; shared by the launches (ntt.cu) and the host twin.
#pragma once

#include <stddef.h>

#include "ntt/pass.cuh"

namespace czk {

constexpr uint32_t NTT_LG_MAX = 28;
constexpr uint32_t NTT_MAX_PASSES = 8;

// Device tables, one behind the other in one allocation.
// Constants that lo may carry: 1 (index 0), 2^-lg for lg up to 29 (1 + lg), 2^32 2^-lg for lg up to 28 (31 + lg).
constexpr uint32_t NTT_LO_TABLES = 1 + 30 + 29;

struct ntt_tables_t {
    const fr_rows_t *hi, *lo;
    const half_t *local;

    const fr_rows_t *lo_plain() const { return lo; }
    const fr_rows_t *lo_inverse(uint32_t lg) const { return lo + (size_t(1 + lg) << NTT_LG_LO); }
    const fr_rows_t *lo_index(uint32_t lg) const { return lo + (size_t(31 + lg) << NTT_LG_LO); }
};

constexpr size_t NTT_HI_BYTES = sizeof(fr_rows_t) << NTT_LG_HI;
constexpr size_t NTT_LO_BYTES = (sizeof(fr_rows_t) << NTT_LG_LO) * NTT_LO_TABLES;
constexpr size_t NTT_LOCAL_BYTES = sizeof(half_t) * NTT_LOCAL_HALVES;
constexpr size_t NTT_TABLES_BYTES = NTT_HI_BYTES + NTT_LO_BYTES + NTT_LOCAL_BYTES;
static_assert(NTT_TABLES_BYTES <= (256u << 20), "tables stay within 256 MiB");

inline ntt_tables_t ntt_tables_at(const void *memory) {
    const char *bytes = static_cast<const char *>(memory);
    return ntt_tables_t{reinterpret_cast<const fr_rows_t *>(bytes),
                        reinterpret_cast<const fr_rows_t *>(bytes + NTT_HI_BYTES),
                        reinterpret_cast<const half_t *>(bytes + NTT_HI_BYTES + NTT_LO_BYTES)};
}

struct ntt_plan_t {
    ntt_pass_t passes[NTT_MAX_PASSES];
    uint32_t count = 0;
};

inline uint32_t ntt_shared_bytes(const ntt_pass_t &p) { return p.fold ? sizeof(ntt_shared_t) : NTT_SHARED_BYTES; }

inline uint32_t ntt_tiles(const ntt_pass_t &p) {
    uint32_t room = NTT_LG_TILE - p.lg_rows, lg_columns = room < 8 ? room : 8, lg_lines = p.lg_size - p.lg_rows;
    return lg_lines <= lg_columns ? 1 : 1u << (lg_lines - lg_columns);
}

// Digits of about equal size, larger ones first.
struct ntt_digits_t {
    uint32_t size[4], count;
};

inline ntt_digits_t ntt_digits(uint32_t lg) {
    ntt_digits_t d{};
    d.count = lg <= NTT_LG_DIGIT ? 1 : (lg + NTT_LG_DIGIT - 1) / NTT_LG_DIGIT;
    for (uint32_t k = 0; k < d.count; k++) d.size[k] = lg / d.count + (k < lg % d.count ? 1 : 0);
    return d;
}

// The factor of a gap of this order, with lo's constant if `lo` has one.
inline void ntt_set_gap(ntt_pass_t &p, const ntt_tables_t &t, uint32_t order, const fr_rows_t *lo) {
    p.lg_order = order;
    p.lo = lo == nullptr ? t.lo_plain() : lo;
    p.store = order <= NTT_LG_HI && lo == nullptr ? NTT_HI : NTT_HI_LO;
    p.fold = p.store == NTT_HI_LO && p.lg_rows == NTT_LG_DIGIT && p.next_bits > 0 && p.middle == NTT_NO_MIDDLE;
}

// Pass `i` of the reversing passes on `data`, without its factor.
inline ntt_pass_t ntt_reversing(const ntt_tables_t &t, const ntt_digits_t &d, uint32_t lg, uint32_t i, fr_t *data,
                                bool inverse) {
    ntt_pass_t p{};
    p.in = data;
    p.out = data;
    p.hi = t.hi;
    p.lo = t.lo_plain();
    p.local = t.local;
    p.order = NTT_REVERSING;
    p.lg_size = lg;
    p.lg_rows = d.size[i];
    p.inverse = inverse;
    p.digit_count = i;
    for (uint32_t k = 0; k < i; k++) p.digits[k] = d.size[k];
    p.lg_stride = lg;
    for (uint32_t k = 0; k <= i; k++) p.lg_stride -= d.size[k];
    return p;
}

// The reversing passes of an inverse transform but the last; the last gap carries `scale` and, on the way back from the
// coset, its part of g^-k.
inline void ntt_plan_inverse(ntt_plan_t &plan, const ntt_tables_t &t, uint32_t lg, fr_t *data, const fr_rows_t *scale,
                             bool from_coset) {
    ntt_digits_t d = ntt_digits(lg);
    uint32_t done = 0;
    for (uint32_t i = 0; i + 1 < d.count; i++) {
        ntt_pass_t p = ntt_reversing(t, d, lg, i, data, true);
        done += d.size[i];
        bool last = i + 2 == d.count;
        p.next_bits = d.size[i + 1];
        p.next_odd = last && from_coset;
        ntt_set_gap(p, t, done + p.next_bits + p.next_odd, last ? scale : nullptr);
        plan.passes[plan.count++] = p;
    }
}

// The last reversing pass, from `data` to natural places of `out`.
inline void ntt_plan_last(ntt_plan_t &plan, const ntt_tables_t &t, uint32_t lg, fr_t *data, fr_t *out, bool inverse,
                          const fr_rows_t *scale, bool from_coset) {
    ntt_digits_t d = ntt_digits(lg);
    ntt_pass_t p = ntt_reversing(t, d, lg, d.count - 1, data, inverse);
    p.order = NTT_REVERSING_LAST;
    p.out = out;
    p.lg_order = p.lg_rows + 1;
    // With one digit there is no gap before it that could have carried the constant.
    if (d.count == 1 && scale != nullptr) ntt_set_gap(p, t, p.lg_order, scale);
    if (from_coset) {
        p.own_digit_only = 1;
        p.next_odd = 1;
        if (p.store == NTT_ONE) p.store = NTT_HI;
    }
    plan.passes[plan.count++] = p;
}

// A transform from natural order in `data`, which is destroyed, to natural order in `out`.
inline ntt_plan_t ntt_plan_natural(const ntt_tables_t &t, uint32_t lg, fr_t *data, fr_t *out, bool inverse,
                                   bool coset) {
    ntt_plan_t plan;
    if (inverse) {
        ntt_plan_inverse(plan, t, lg, data, t.lo_inverse(lg), coset);
        ntt_plan_last(plan, t, lg, data, out, true, t.lo_inverse(lg), coset);
        return plan;
    }
    ntt_digits_t d = ntt_digits(lg);
    uint32_t done = 0;
    for (uint32_t i = 0; i + 1 < d.count; i++) {
        ntt_pass_t p = ntt_reversing(t, d, lg, i, data, false);
        done += d.size[i];
        p.next_bits = d.size[i + 1];
        p.k_odd = coset;
        ntt_set_gap(p, t, done + p.next_bits + p.k_odd, nullptr);
        plan.passes[plan.count++] = p;
    }
    ntt_plan_last(plan, t, lg, data, out, false, nullptr, false);
    if (coset) plan.passes[0].load = NTT_HI;
    return plan;
}

// The inverse transform of `data`, `middle` on its coefficients, and the forward transform, in place.
inline ntt_plan_t ntt_plan_through(const ntt_tables_t &t, uint32_t lg, fr_t *data, ntt_middle_t middle) {
    ntt_plan_t plan;
    ntt_digits_t d = ntt_digits(lg);
    const fr_rows_t *scale = middle == NTT_TIMES_INDEX ? t.lo_index(lg) : t.lo_inverse(lg);
    bool coset = middle == NTT_TO_COSET;
    ntt_plan_inverse(plan, t, lg, data, scale, false);
    uint32_t done = 0;
    for (uint32_t i = d.count; i-- > 0;) {
        ntt_pass_t p = ntt_reversing(t, d, lg, i, data, i + 1 == d.count);
        p.order = NTT_RESTORING;
        if (i + 1 == d.count) p.middle = middle;
        done += d.size[i];
        if (i > 0) {
            p.next_bits = d.size[i - 1];
            p.k_odd = coset;
            ntt_set_gap(p, t, done + p.next_bits + p.k_odd, nullptr);
        } else if (d.count == 1) {
            ntt_set_gap(p, t, lg, scale);
        }
        plan.passes[plan.count++] = p;
    }
    return plan;
}

// The quotient of design: h = (iNTT(a b) - coset-iNTT(a' b')) / 2, a' and b' on the coset. a and b are destroyed, h ends
// in b's place, in natural order; `work` is a third vector.
constexpr uint32_t NTT_QUOTIENT_PLANS = 6;

inline void ntt_plan_quotient(ntt_plan_t plans[NTT_QUOTIENT_PLANS], const ntt_tables_t &t, uint32_t lg, fr_t *a,
                              fr_t *b, fr_t *work) {
    const fr_rows_t *half = t.lo_inverse(lg + 1);
    bool one_digit = ntt_digits(lg).count == 1;
    for (uint32_t k = 0; k < NTT_QUOTIENT_PLANS; k++) plans[k] = ntt_plan_t();
    // With one digit the last pass is the first, and may go from a and b to `work` at once.
    if (one_digit) ntt_plan_last(plans[0], t, lg, a, work, true, half, false);
    else ntt_plan_inverse(plans[0], t, lg, work, half, false);
    plans[0].passes[0].in = a;
    plans[0].passes[0].in_2 = b;
    plans[1] = ntt_plan_through(t, lg, a, NTT_TO_COSET);
    plans[2] = ntt_plan_through(t, lg, b, NTT_TO_COSET);
    ntt_plan_inverse(plans[3], t, lg, a, half, true);
    if (!one_digit) plans[3].passes[0].in_2 = b;
    if (!one_digit) ntt_plan_last(plans[4], t, lg, work, b, true, nullptr, false);
    ntt_plan_last(plans[5], t, lg, a, one_digit ? work : b, true, half, true);
    plans[5].passes[0].subtract = 1;
    if (one_digit) plans[5].passes[0].in_2 = b;
}

} // namespace czk
