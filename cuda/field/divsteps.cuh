// Inverses modulo p by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion",
// 2019, with the half-integer delta that libsecp256k1 found). A tenth of the latency of raising to p - 2, which matters
// where a whole block waits for one inverse. No branch depends on the value: the lanes of a warp stay together.
//
// Plain integers in and out, twelve 32-bit words, so that it serves any representation of Fp.
//
// f = p, g = x. One step: if delta > 0 and g is odd, (delta, f, g) = (1 - delta, g, (g - f) / 2), otherwise
// (delta, f, g) = (1 + delta, f, (g + (g mod 2) f) / 2). 30 steps depend on the lowest 30 bits alone: they are done on
// words and gathered in a 2 × 2 matrix, scaled by 2^30, which is then applied to f and g and, modulo p, to d and e, where
// d x = f and e x = g modulo p always. For 381 bits floor((45907 · 381 + 26313) / 19929) = 878 steps leave g = 0 and
// f = 1 or -1, so that d or -d is the inverse; 30 rounds are 900.
#pragma once

#include "field/wide.cuh"

namespace czk {

// 13 signed limbs of 30 bits: 390 bits, lowest first. All but the top one are in [0, 2^30).
struct limbs30_t {
    int32_t limb[13];
};

struct steps_matrix_t {
    int32_t u, v, q, r;
};

constexpr uint32_t mask30 = 0x3fffffff;
constexpr int divstep_rounds = 30;
static_assert(divstep_rounds * 30 >= (45907 * 381 + 26313) / 19929, "enough steps for 381 bits");

// p in limbs of 30 bits, and 1 / p modulo 2^30.
CZK_FN int32_t modulus30(int i) {
    switch (i) {
    case 0: return 0x3fffaaab;
    case 1: return 0x27fbffff;
    case 2: return 0x153ffffb;
    case 3: return 0x2affffac;
    case 4: return 0x30f6241e;
    case 5: return 0x034a83da;
    case 6: return 0x112bf673;
    case 7: return 0x12e13ce1;
    case 8: return 0x2cd76477;
    case 9: return 0x1ed90d2e;
    case 10: return 0x29a4b1ba;
    case 11: return 0x3a8e5ff9;
    default: return 0x001a0111;
    }
}
constexpr uint32_t modulus_inverse30 = 0x00030003;

CZK_FN int64_t mul_signed(int32_t a, int32_t b) { return int64_t(a) * b; }

CZK_FN steps_matrix_t thirty_steps(int32_t &zeta, uint32_t f, uint32_t g) {
    // zeta = -(delta + 1/2). Masks are all ones or zero.
    uint32_t u = 1, v = 0, q = 0, r = 1;
#ifdef __CUDACC__
#pragma unroll 6
#endif
    for (int i = 0; i < 30; i++) {
        uint32_t positive = uint32_t(zeta >> 31), odd = 0u - (g & 1);
        g += ((f ^ positive) - positive) & odd;
        q += ((u ^ positive) - positive) & odd;
        r += ((v ^ positive) - positive) & odd;
        uint32_t swap = positive & odd;
        zeta = int32_t(uint32_t(zeta) ^ swap) - 1;
        f += g & swap;
        u += q & swap;
        v += r & swap;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    return {int32_t(u), int32_t(v), int32_t(q), int32_t(r)};
}

// (f, g) = t (f, g) / 2^30, exactly.
CZK_FN void apply_exact(limbs30_t &f, limbs30_t &g, const steps_matrix_t &t) {
    int64_t cf = mul_signed(t.u, f.limb[0]) + mul_signed(t.v, g.limb[0]);
    int64_t cg = mul_signed(t.q, f.limb[0]) + mul_signed(t.r, g.limb[0]);
    cf >>= 30;
    cg >>= 30;
    CZK_UNROLL
    for (int i = 1; i < 13; i++) {
        int32_t fi = f.limb[i], gi = g.limb[i];
        cf += mul_signed(t.u, fi) + mul_signed(t.v, gi);
        cg += mul_signed(t.q, fi) + mul_signed(t.r, gi);
        f.limb[i - 1] = int32_t(uint32_t(cf) & mask30);
        g.limb[i - 1] = int32_t(uint32_t(cg) & mask30);
        cf >>= 30;
        cg >>= 30;
    }
    f.limb[12] = int32_t(cf);
    g.limb[12] = int32_t(cg);
}

// (d, e) = t (d, e) / 2^30 modulo p, keeping both in (-2 p, p).
CZK_FN void apply_modular(limbs30_t &d, limbs30_t &e, const steps_matrix_t &t) {
    // A negative operand is brought up by p first (that is what the sign masks add), then a multiple of p makes the sum
    // divisible by 2^30.
    int32_t d_sign = d.limb[12] >> 31, e_sign = e.limb[12] >> 31;
    int32_t md = (t.u & d_sign) + (t.v & e_sign), me = (t.q & d_sign) + (t.r & e_sign);
    int64_t cd = mul_signed(t.u, d.limb[0]) + mul_signed(t.v, e.limb[0]);
    int64_t ce = mul_signed(t.q, d.limb[0]) + mul_signed(t.r, e.limb[0]);
    md -= int32_t((modulus_inverse30 * uint32_t(cd) + uint32_t(md)) & mask30);
    me -= int32_t((modulus_inverse30 * uint32_t(ce) + uint32_t(me)) & mask30);
    cd = (cd + mul_signed(modulus30(0), md)) >> 30;
    ce = (ce + mul_signed(modulus30(0), me)) >> 30;
    CZK_UNROLL
    for (int i = 1; i < 13; i++) {
        int32_t di = d.limb[i], ei = e.limb[i];
        cd += mul_signed(t.u, di) + mul_signed(t.v, ei) + mul_signed(modulus30(i), md);
        ce += mul_signed(t.q, di) + mul_signed(t.r, ei) + mul_signed(modulus30(i), me);
        d.limb[i - 1] = int32_t(uint32_t(cd) & mask30);
        e.limb[i - 1] = int32_t(uint32_t(ce) & mask30);
        cd >>= 30;
        ce >>= 30;
    }
    d.limb[12] = int32_t(cd);
    e.limb[12] = int32_t(ce);
}

// d += p if d < 0, then d = -d if `negate`, limbs carried.
CZK_FN void lift(limbs30_t &d, int32_t negate) {
    int32_t add = d.limb[12] >> 31, carry = 0;
    CZK_UNROLL
    for (int i = 0; i < 13; i++) {
        int32_t sum = d.limb[i] + (modulus30(i) & add);
        sum = ((sum ^ negate) - negate) + carry;
        carry = i < 12 ? sum >> 30 : 0;
        d.limb[i] = i < 12 ? int32_t(uint32_t(sum) & mask30) : sum;
    }
}

// x^-1 mod p for 0 <= x < p as plain integers, 0 for 0.
CZK_FN void invert_modulo_p(uint32_t (&out)[12], const uint32_t (&x)[12]) {
    limbs30_t f, g, d{}, e{};
    e.limb[0] = 1;
    CZK_UNROLL
    for (int i = 0; i < 13; i++) {
        f.limb[i] = modulus30(i);
        int word = 30 * i / 32, shift = 30 * i % 32;
        uint32_t upper = word + 1 < 12 ? x[word + 1] : 0;
        g.limb[i] = int32_t(funnel_right(x[word], upper, uint32_t(shift)) & mask30);
    }
    int32_t zeta = -1;
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (int round = 0; round < divstep_rounds; round++) {
        steps_matrix_t t = thirty_steps(zeta, uint32_t(f.limb[0]) | uint32_t(f.limb[1]) << 30,
                                        uint32_t(g.limb[0]) | uint32_t(g.limb[1]) << 30);
        apply_modular(d, e, t);
        apply_exact(f, g, t);
    }
    lift(d, f.limb[12] >> 31);
    lift(d, 0);
    CZK_UNROLL
    for (int i = 0; i < 12; i++) {
        int low = 32 * i / 30, shift = 32 * i % 30; // shift <= 28: two limbs hold the word
        uint32_t word = uint32_t(d.limb[low]) >> shift;
        word |= uint32_t(d.limb[low + 1]) << (30 - shift);
        out[i] = word;
    }
}

} // namespace czk
