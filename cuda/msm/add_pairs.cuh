// Affine additions of many pairs with shared inversions: the work horse of every sum of points here.
//
// For P = (x1, y1), Q = (x2, y2):
//     lambda = (y2 - y1) / (x2 - x1), or 3 x1^2 / (2 y1) when Q = P
//     x3 = lambda^2 - x1 - x2,  y3 = lambda (x1 - x3) - y1
// and Montgomery's trick turns the divisions of a batch into three products each: forward, a thread keeps the running
// product of its denominators and stores what it was before each; four threads share one inversion; backward, the
// inverse of each denominator is split off. 5 M + 1 S an addition, and 96 + 48 + 48 + 192 + 96 bytes of traffic in G1.
//
// A pair with an infinite point, or of opposite points, has no denominator and takes no part in the product. Forward and
// backward decide that by the same function of the same bytes.
#pragma once

#include "curve/affine.cuh"

namespace czk {

// 16 bytes at a time: every type of point and field element here is a multiple of that, and aligned to it.
template <class T>
CZK_FN T load_words(const T *from) {
    static_assert(sizeof(T) % 16 == 0, "whole 16-byte words");
    T value;
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 16; i++) {
        reinterpret_cast<uint4 *>(&value)[i] = reinterpret_cast<const uint4 *>(from)[i];
    }
    return value;
}

template <class T>
CZK_FN void store_words(T *to, const T &value) {
    static_assert(sizeof(T) % 16 == 0, "whole 16-byte words");
#pragma unroll
    for (unsigned i = 0; i < sizeof(T) / 16; i++) {
        reinterpret_cast<uint4 *>(to)[i] = reinterpret_cast<const uint4 *>(&value)[i];
    }
}

// One addition: *out = (-1)^left_negative *left + (-1)^right_negative *right. `before` is where the running product is
// kept between the two passes; it may lie inside *out if that overlaps neither operand.
template <class F>
struct addition_t {
    const affine_t<F> *left, *right;
    bool left_negative, right_negative;
    affine_t<F> *out;
    F *before;
};

// The pairs that x coordinates alone can't tell: off the common path, and with arguments by value, so that nothing of the
// common path has an address.
template <class F>
static __device__ __noinline__ pair_t unusual_kind(const affine_t<F> *left, const affine_t<F> *right,
                                                   bool opposite_signs) {
    affine_t<F> p = load_words(left), q = load_words(right);
    if (opposite_signs) q = neg(q);
    F denominator;
    return pair_denominator(denominator, p, q);
}

// The pair's kind (pair_denominator in curve/affine.cuh), from the x coordinates alone if they differ and neither is all
// zero bytes, as it is at infinity.
template <class F>
CZK_FN pair_t kind_of(const addition_t<F> &pair, const F &x1, const F &x2) {
    if (!is_blank(x1) && !is_blank(x2) && !eq(x1, x2)) return pair_t::sum;
    return unusual_kind(pair.left, pair.right, pair.left_negative != pair.right_negative);
}

// 2 y of a point that is doubled.
template <class F>
static __device__ __noinline__ F twice_y(const affine_t<F> *point, bool negative) {
    F y = load_words(&point->y);
    return dbl(negative ? neg(y) : y);
}

// x2 - x1, or 2 y for a pair of equal points.
template <class F>
CZK_FN F denominator_of(const addition_t<F> &pair, pair_t kind, const F &x1, const F &x2) {
    return kind == pair_t::sum ? sub(x2, x1) : twice_y(pair.left, pair.left_negative);
}

CZK_FN bool has_denominator(pair_t kind) { return kind == pair_t::sum || kind == pair_t::twice; }

// A product without a call: loads that are under way would be waited for before a call.
CZK_FN fp_t mul_in_place(const fp_t &a, const fp_t &b) { return mul_inline(a, b); }
CZK_FN fp2_t mul_in_place(const fp2_t &a, const fp2_t &b) { return mul(a, b); }

// Forward over `mine` pairs, every THREADS-th from `first` on: the product of all denominators, what it was before each
// being stored. The next pair's x coordinates are on their way while this one's denominator is multiplied.
template <class F, class Source, unsigned THREADS>
CZK_FN F multiply_denominators(const Source &source, uint32_t first, uint32_t mine) {
    F product = one<F>();
    addition_t<F> pair = Source::make(source, first);
    F x1 = load_words(&pair.left->x), x2 = load_words(&pair.right->x);
    for (uint32_t i = 0; i < mine; i++) {
        const addition_t<F> next = Source::make(source, first + (i + 1 < mine ? i + 1 : i) * THREADS);
        const F next1 = load_words(&next.left->x), next2 = load_words(&next.right->x);
        const pair_t kind = kind_of(pair, x1, x2);
        if (has_denominator(kind)) {
            store_words(pair.before, product);
            product = mul_in_place(product, denominator_of(pair, kind, x1, x2));
        }
        pair = next;
        x1 = next1;
        x2 = next2;
    }
    return product;
}

// Replaces every thread's `product` by its inverse: lane l of the first warp inverts the product of threads l, l + 32, …
template <class F, unsigned THREADS>
CZK_FN F invert_in_block(const F &product, F *shared) {
    constexpr unsigned shares = THREADS / 32;
    store_words(shared + threadIdx.x, product);
    __syncthreads();
    if (threadIdx.x < 32) {
        F before[shares];
        F running = load_words(shared + threadIdx.x);
#pragma unroll
        for (unsigned i = 1; i < shares; i++) {
            before[i] = running;
            running = mul(running, load_words(shared + threadIdx.x + 32 * i));
        }
        F inverse = inv(running);
#pragma unroll
        for (unsigned i = shares - 1; i > 0; i--) {
            F own = load_words(shared + threadIdx.x + 32 * i);
            store_words(shared + threadIdx.x + 32 * i, mul(inverse, before[i]));
            inverse = mul(inverse, own);
        }
        store_words(shared + threadIdx.x, inverse);
    }
    __syncthreads();
    return load_words(shared + threadIdx.x);
}

// Adds the pairs Source::make(source, k), k in [0, count). A block takes THREADS * rounds of them, each thread every
// THREADS-th.
template <class F, class Source, unsigned THREADS, unsigned BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) add_pairs(Source source, uint32_t count, uint32_t rounds) {
    __shared__ __align__(16) unsigned char shared_bytes[THREADS * sizeof(F)];
    F *shared = reinterpret_cast<F *>(shared_bytes);
    const uint64_t first = uint64_t(blockIdx.x) * THREADS * rounds + threadIdx.x;
    const uint32_t mine =
        first >= count ? 0 : uint32_t(min(uint64_t(rounds), (count - first + THREADS - 1) / THREADS));
    F product = one<F>();
    if (mine > 0) product = multiply_denominators<F, Source, THREADS>(source, uint32_t(first), mine);
    F inverse = invert_in_block<F, THREADS>(product, shared);
    for (uint32_t i = mine; i-- > 0;) {
        const addition_t<F> pair = Source::make(source, uint32_t(first + uint64_t(i) * THREADS));
        affine_t<F> p = load_words(pair.left), q = load_words(pair.right);
        const pair_t kind = kind_of(pair, p.x, q.x);
        F slope_inverse;
        if (has_denominator(kind)) {
            slope_inverse = mul(inverse, load_words(pair.before));
            inverse = mul(inverse, denominator_of(pair, kind, p.x, q.x));
        }
        if (pair.left_negative) p = neg(p);
        if (pair.right_negative) q = neg(q);
        store_words(pair.out, pair_sum(kind, p, q, slope_inverse));
    }
}

} // namespace czk
