// Many affine additions with one inversion (Montgomery's trick).
#pragma once

#include "curve/affine.cuh"

namespace czk {

// One inversion for a sequence of values, none of them 0, of which none is kept in registers. Going up, push() returns
// the product of the values before; the caller stores it where it likes. After invert(), pop() goes down in the opposite
// order and returns each value's inverse. 3M a value.
template <typename F> struct shared_inversion_t {
    F product; // going up: of all values so far; going down: the inverse of that

    CZK_FN shared_inversion_t begin() { return shared_inversion_t{one<F>()}; }
};

template <typename F> CZK_FN F push(shared_inversion_t<F> &s, const F &value) {
    F before = s.product;
    s.product = mul(before, value);
    return before;
}

template <typename F> CZK_FN void invert(shared_inversion_t<F> &s) { s.product = inv(s.product); }

template <typename F> CZK_FN F pop(shared_inversion_t<F> &s, const F &value, const F &before) {
    F inverse = mul(s.product, before);
    s.product = mul(s.product, value);
    return inverse;
}

} // namespace czk
