// Words and carries: the only file with inline PTX. On the host the same functions are plain C++, so that the field
// headers compile for the CPU and are tested there.
//
// A carry chain is a run of calls in which `*_cc` writes the carry (or borrow) and `addc`, `subc`, `madc` read it. Keep
// nothing but calls from this file between a writer and its reader. On the GPU the carry is PTX's condition code (asm
// volatile keeps the order); on the host it is a thread-local word. An addition must never read what a subtraction wrote,
// nor the reverse: the documents call both carry, but the hardware's flag is a borrow's complement. The host twin traps.
//
// A product of two 32-bit words is one IMAD.WIDE, half the rate of other instructions: it adds a 64-bit pair and has a
// carry in and out, which is why everything here is built of word pairs.
#pragma once

#include <stdint.h>

#ifdef __CUDACC__
#define CZK_FN static __device__ __forceinline__
#define CZK_CALL static __device__ __noinline__
#define CZK_UNROLL _Pragma("unroll")
#else
#define CZK_FN static inline
#define CZK_CALL static inline
#define CZK_UNROLL
#endif

namespace czk {

#ifndef __CUDACC__
// The carry or borrow, and which of the two.
static thread_local uint32_t host_carry;
static thread_local bool host_borrow;

static inline uint32_t host_flag(bool borrow) {
    if (host_borrow != borrow) __builtin_trap();
    return host_carry;
}

static inline void host_set(uint32_t carry, bool borrow) {
    host_carry = carry;
    host_borrow = borrow;
}
#endif

// a + b, writes the carry.
CZK_FN uint32_t add_cc(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    uint32_t r;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#else
    uint64_t r = uint64_t(a) + b;
    host_set(uint32_t(r >> 32), false);
    return uint32_t(r);
#endif
}

// a + b + carry, writes the carry.
CZK_FN uint32_t addc_cc(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    uint32_t r;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#else
    uint64_t r = uint64_t(a) + b + host_flag(false);
    host_set(uint32_t(r >> 32), false);
    return uint32_t(r);
#endif
}

// a + b + carry.
CZK_FN uint32_t addc(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    uint32_t r;
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#else
    return a + b + host_flag(false);
#endif
}

// a - b, writes the borrow. If a is a constant 0 and the result goes into add_cc, ptxas 13.0 folds the negation into the
// addition (LEA or IADD3 with -b), whose carry is then that of a subtraction: 1 instead of 0 for b = 0.
CZK_FN uint32_t sub_cc(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    uint32_t r;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#else
    uint64_t r = uint64_t(a) - b;
    host_set(uint32_t(r >> 32) & 1, true);
    return uint32_t(r);
#endif
}

// a - b - borrow, writes the borrow.
CZK_FN uint32_t subc_cc(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    uint32_t r;
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#else
    uint64_t r = uint64_t(a) - b - host_flag(true);
    host_set(uint32_t(r >> 32) & 1, true);
    return uint32_t(r);
#endif
}

// a - b - borrow.
CZK_FN uint32_t subc(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    uint32_t r;
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
#else
    return a - b - host_flag(true);
#endif
}

// (hi, lo) = a b.
CZK_FN void mul_wide(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    asm volatile("{.reg .u64 t; mul.wide.u32 t, %2, %3; mov.b64 {%0, %1}, t;}" : "=r"(lo), "=r"(hi) : "r"(a), "r"(b));
#else
    uint64_t r = uint64_t(a) * b;
    lo = uint32_t(r);
    hi = uint32_t(r >> 32);
#endif
}

// (hi, lo) += a b, writes the carry.
CZK_FN void mad_wide_cc(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    asm volatile("{mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;}"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
#else
    unsigned __int128 r = (unsigned __int128)a * b + (uint64_t(hi) << 32 | lo);
    lo = uint32_t(r);
    hi = uint32_t(r >> 32);
    host_set(uint32_t(r >> 64), false);
#endif
}

// (hi, lo) += a b + carry, writes the carry.
CZK_FN void madc_wide_cc(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    asm volatile("{madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;}"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
#else
    unsigned __int128 r = (unsigned __int128)a * b + (uint64_t(hi) << 32 | lo) + host_flag(false);
    lo = uint32_t(r);
    hi = uint32_t(r >> 32);
    host_set(uint32_t(r >> 64), false);
#endif
}

// (hi, lo) += a b + carry, for sums that are known to fit.
CZK_FN void madc_wide(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    asm volatile("{madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.u32 %1, %2, %3, %1;}"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
#else
    uint64_t r = uint64_t(a) * b + (uint64_t(hi) << 32 | lo) + host_flag(false);
    lo = uint32_t(r);
    hi = uint32_t(r >> 32);
#endif
}

// (hi, lo) += a b, for sums that are known to fit.
CZK_FN void mad_wide(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
    asm volatile("{mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.u32 %1, %2, %3, %1;}"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
#else
    uint64_t r = uint64_t(a) * b + (uint64_t(hi) << 32 | lo);
    lo = uint32_t(r);
    hi = uint32_t(r >> 32);
#endif
}

// The upper word of (hi, lo) << shift, 0 <= shift < 32.
CZK_FN uint32_t funnel_left(uint32_t lo, uint32_t hi, uint32_t shift) {
#ifdef __CUDACC__
    return __funnelshift_l(lo, hi, shift);
#else
    return shift == 0 ? hi : hi << shift | lo >> (32 - shift);
#endif
}

// The lower word of (hi, lo) >> shift, 0 <= shift < 32.
CZK_FN uint32_t funnel_right(uint32_t lo, uint32_t hi, uint32_t shift) {
#ifdef __CUDACC__
    return __funnelshift_r(lo, hi, shift);
#else
    return shift == 0 ? lo : hi << (32 - shift) | lo >> shift;
#endif
}

// The four bytes of a in reverse order.
CZK_FN uint32_t swap_bytes(uint32_t a) {
#ifdef __CUDACC__
    return __byte_perm(a, 0, 0x0123);
#else
    return __builtin_bswap32(a);
#endif
}

} // namespace czk
