// One affine addition of many that share an inversion: what is common to all of them, and what is not.
//
// For P = (x1, y1), Q = (x2, y2):
//     lambda = (y2 - y1) / (x2 - x1), or 3 x1^2 / (2 y1) when Q = P
//     x3 = lambda^2 - x1 - x2,  y3 = lambda (x1 - x3) - y1
//
// A pair with an infinite point, or of opposite points, has no denominator and counts as 1 in the product of all of them.
// Such pairs and equal ones are rare: they are handled in functions of their own, and decided by the same test of the same
// bytes going forward and backward.
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

// Every COLUMNS-th word from `to` on.
template <unsigned COLUMNS, class F>
CZK_FN void store_column(uint4 *to, const F &value) {
#pragma unroll
    for (unsigned i = 0; i < sizeof(F) / 16; i++) to[i * COLUMNS] = reinterpret_cast<const uint4 *>(&value)[i];
}

// *out = (-1)^left_negative *left + (-1)^right_negative *right. `out` may be `left`.
template <class F>
struct addition_t {
    const affine_t<F> *left, *right;
    bool left_negative, right_negative;
    affine_t<F> *out;
};

// Whether x2 - x1 is the pair's denominator: two finite points, neither equal nor opposite. The x coordinate of an infinite
// point is all zero bytes; so may be that of a finite one, which is then tested in full.
template <class F>
CZK_FN bool is_plain(const F &x1, const F &x2) {
    return !is_blank(x1) && !is_blank(x2) && !eq(x1, x2);
}

// The operands of a pair that is not plain, what their sum is, and the slope's denominator (1 if there is none).
template <class F>
struct operands_t {
    affine_t<F> p, q;
    pair_t kind;
    F denominator;
};

template <class F>
CZK_FN operands_t<F> read_operands(const addition_t<F> &pair) {
    operands_t<F> own;
    own.p = load_words(pair.left);
    own.q = load_words(pair.right);
    if (pair.left_negative) own.p = neg(own.p);
    if (pair.right_negative) own.q = neg(own.q);
    own.kind = pair_denominator(own.denominator, own.p, own.q);
    return own;
}

template <class F>
static __device__ __noinline__ F rare_denominator(addition_t<F> pair) {
    return read_operands(pair).denominator;
}

// Deals with a pair that is not plain before the common formulas are applied to it. A doubling gets a y in place of the
// right point's, at right_y, that makes y2 - y1 the numerator 3 x^2. A sum without a slope is stored; true if it was.
template <class F, unsigned COLUMNS>
static __device__ __noinline__ bool finish_rare(addition_t<F> pair, uint4 *right_y) {
    const operands_t<F> own = read_operands(pair);
    if (own.kind == pair_t::twice) {
        const F square = sqr(own.p.x), y = add(add(dbl(square), square), own.p.y);
        store_column<COLUMNS>(right_y, pair.right_negative ? neg(y) : y);
        return false;
    }
    if (own.kind == pair_t::sum) return false;
    store_words(pair.out, own.kind == pair_t::first ? own.p : own.kind == pair_t::second ? own.q : infinity<F>());
    return true;
}

} // namespace czk
