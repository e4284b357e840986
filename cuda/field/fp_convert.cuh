// Fp between the device's form and the others: canonical words, Montgomery limbs of host libraries, big-endian bytes.
#pragma once

#include "field/divsteps.cuh"
#include "field/fp.cuh"

namespace czk {

// p, least significant word first.
CZK_FN uint32_t fp_modulus_word(int i) {
    const uint32_t p[12] = {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u,
                            0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau};
    return p[i];
}

// sum v[j] t[j] / W for six 64-bit words v and six elements t: the columns don't overlap, so nothing folds but the
// quotient. At most 144 + 25 WIDE; products by a digit 0 of the table are none.
CZK_FN fp_t combine(const uint32_t *v, const uint64_t (&t)[6][6]) {
    column_t c[6];
    CZK_UNROLL
    for (int i = 0; i < 6; i++) {
        CZK_UNROLL
        for (int j = 0; j < 6; j++) {
            const uint32_t digit[2] = {uint32_t(t[j][i]), uint32_t(t[j][i] >> 32)};
            if (j == 0) {
                column_first(c[i], v, digit);
            } else {
                column_mac(c[i], v + 2 * j, digit);
            }
        }
    }
    digits96_t d;
    fp_t r;
    divide_by_w(d, c);
    normalise(r.w, d);
    return r;
}

// The element of twelve canonical words v < p (any 384 bits are taken modulo p).
CZK_FN void from_canonical(fp_t &r, const uint32_t *v) {
    // digits of 2^(64 j) W^2 mod 3 p
    const uint64_t t[6][6] = {
        {0x2a80a932a94b0000, 0x661104ca56cc56b5, 1, 0, 0, 0},
        {0x77cac18913d80000, 0x5200ebed9399ec28, 0xaa6aecf1e01eaadd, 1, 0, 0},
        {0xcb057a8c4d640000, 0x02b6938e9745b29c, 0x92c91520791dee2e, 0x2bbc4f7bd0007db2, 2, 0},
        {0x5c31d6bd1bbc0000, 0x849ccfdc691be444, 0x1cef7c0fb1f0c027, 0x2e8567c4012d75bd, 0x914e94edfedc377c, 2},
        {0x40e9c6f5d5dafffd, 0xb783b96555012a28, 0x6f8bfc26c803e409, 0x17bee0b3e7dfb98e, 0x3ee741c489d28ed0,
         0x3b1effc09aef7e08},
        {0x75107f82b0659366, 0x24e2c955c6b5cd55, 0xb8f71beec447b7ab, 0x2b8e87c8f59eb8b5, 0x82add11964bf40d7,
         0x0af474c032469179}};
    r = combine(v, t);
}

// The element whose Montgomery form with factor 2^384, as host libraries keep it, is the twelve words v.
CZK_FN void from_montgomery(fp_t &r, const uint32_t *v) {
    // digits of 2^(64 j) W^2 / 2^384 mod 3 p
    const uint64_t t[6][6] = {
        {0x36020f1cd0cc658e, 0xc7d6be9a0c1c28d8, 0x119a9c8ff8a42895, 0x02164938f80e4757, 0x9e99f77c7e9167e8,
         0x9317728ee90a7582},
        {0xd1f72b4ef89d6192, 0x35d3c9d158b8cb95, 0x69bcfb910dea682f, 0x734bf449d619a2b8, 0x29e76ab44c89abef,
         0x92461925913f0a5d},
        {0x5cd52a3b9845a6e8, 0x0c158f0912197ddc, 0x0ef6e7cd74944c51, 0xbba0bd8551516cfa, 0x0067b4c9f1ed34ab,
         0x0b0d45831b6ad6db},
        {0xac49be087604a408, 0x868a4803a4044803, 0x868cbe0500024808, 0x4b7441f889fbb7f8, 0x712c55f389fb13f1,
         0x25b8e5fb2dfe5bfa},
        {1, 0, 0, 0, 0, 0},
        {0x2dfeffffffff0000, 1, 0, 0, 0, 0}};
    r = combine(v, t);
}

// The integer sum d[i] X^i of a's digits, reduced below p.
CZK_FN void fp_digits_to_integer(uint32_t *v, const fp_t &a) {
    CZK_UNROLL
    for (int i = 0; i < 12; i++) v[i] = 0;
    for (int i = 5; i >= 0; i--) { // v = v X + d[i]: X = x_hi 2^32 + x_lo, one word of X at a time
        uint32_t high = 0, r[12];
        uint64_t carry = 0;
        CZK_UNROLL
        for (int j = 0; j < 12; j++) {
            uint64_t t = uint64_t(v[j]) * x_lo + (j < 2 ? a.w[2 * i + j] : 0);
            uint64_t u = uint64_t(high) * x_hi + uint32_t(t) + uint32_t(carry);
            high = v[j];
            r[j] = uint32_t(u);
            carry = (carry >> 32) + (t >> 32) + (u >> 32);
        }
        CZK_UNROLL
        for (int j = 0; j < 12; j++) v[j] = r[j];
    }
    for (int k = 0; k < 3; k++) { // below 3.66 p
        uint32_t r[12];
        r[0] = sub_cc(v[0], fp_modulus_word(0));
        CZK_UNROLL
        for (int j = 1; j < 12; j++) r[j] = subc_cc(v[j], fp_modulus_word(j));
        if (subc(0, 0) != 0) break;
        CZK_UNROLL
        for (int j = 0; j < 12; j++) v[j] = r[j];
    }
}

// Twelve canonical words of a, below p.
CZK_FN void to_canonical(uint32_t *v, const fp_t &a) {
    fp_digits_to_integer(v, mul(a, fp_t{{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}));
}

// Montgomery form of a with factor 2^384, below p.
CZK_FN void to_montgomery(uint32_t *v, const fp_t &a) {
    // digits of 2^384 mod 3 p
    const fp_t factor = {{0xd5dafffdu, 0x40e9c6f5u, 0x55012a28u, 0xb783b965u, 0xc803e409u, 0x6f8bfc26u, 0xe7dfb98eu,
                          0x17bee0b3u, 0x89d28ed0u, 0x3ee741c4u, 0x9aef7e08u, 0x3b1effc0u}};
    fp_digits_to_integer(v, mul(a, factor));
}

// The element of 48 big-endian bytes, given as twelve words as they lie in memory (little-endian loads). false, and r
// undefined, if they aren't below p. The caller has cleared the flag bits.
CZK_FN bool from_be_words(fp_t &r, const uint32_t *bytes) {
    uint32_t v[12];
    CZK_UNROLL
    for (int i = 0; i < 12; i++) v[i] = swap_bytes(bytes[11 - i]);
    (void)sub_cc(v[0], fp_modulus_word(0));
    CZK_UNROLL
    for (int i = 1; i < 12; i++) (void)subc_cc(v[i], fp_modulus_word(i));
    bool below = subc(0, 0) != 0;
    from_canonical(r, v);
    return below;
}

// 48 big-endian bytes of a, as twelve words as they lie in memory.
CZK_FN void to_be_words(uint32_t *bytes, const fp_t &a) {
    uint32_t v[12];
    to_canonical(v, a);
    CZK_UNROLL
    for (int i = 0; i < 12; i++) bytes[i] = swap_bytes(v[11 - i]);
}

// 1 / a; 0 for a = 0. A tenth of the latency of a^(p - 2), which a whole block of batched additions would wait for.
CZK_CALL fp_t inv(const fp_t &a) {
    uint32_t v[12], inverse[12];
    fp_t r;
    to_canonical(v, a);
    invert_modulo_p(inverse, v);
    from_canonical(r, inverse);
    return r;
}

} // namespace czk
