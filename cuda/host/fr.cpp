// The Fr headers for the CPU, one function per operation, for tests/cuda_fr.rs. Elements are 4 digits of 64 bits.
#include <string.h>

#include "field/fr_convert.cuh"

using namespace czk;

namespace {

fr_t load(const uint64_t *digits) { return fr_from_digits(digits[0], digits[1], digits[2], digits[3]); }

void store(uint64_t *digits, const fr_t &u) {
    for (int k = 0; k < 4; k++) digits[k] = fr_digit(u, k);
}

// A canonical integer: the same bytes as its words, on a little-endian machine.
struct words_t {
    uint32_t w[8];
};

} // namespace

extern "C" {

void czk_host_fr_mul(uint64_t *out, const uint64_t *a, const uint64_t *b) { store(out, fr_mul(load(a), load(b))); }

void czk_host_fr_mul_rows(uint64_t *out, const uint64_t *u, const uint64_t *w) {
    store(out, fr_mul(load(u), fr_rows(load(w))));
}

void czk_host_fr_mul_twiddle(uint64_t *out, const uint64_t *u, const uint64_t *w) {
    store(out, fr_mul(load(u), fr_twiddle(load(w))));
}

// u times four rows of any digits.
void czk_host_fr_mul_four(uint64_t *out, const uint64_t *u, const uint64_t *rows) {
    fr_twiddle_t t;
    for (int j = 0; j < 4; j++) t.row[j] = load(rows + 4 * j);
    store(out, fr_mul(load(u), t));
}

void czk_host_fr_twiddle(uint64_t *out, const uint64_t *w) {
    fr_twiddle_t t = fr_twiddle(load(w));
    for (int j = 0; j < 4; j++) store(out + 4 * j, t.row[j]);
}

void czk_host_fr_add(uint64_t *out, const uint64_t *a, const uint64_t *b) { store(out, fr_add(load(a), load(b))); }

void czk_host_fr_sub(uint64_t *out, const uint64_t *a, const uint64_t *b) { store(out, fr_sub(load(a), load(b))); }

void czk_host_fr_neg(uint64_t *out, const uint64_t *a) { store(out, fr_neg(load(a))); }

void czk_host_fr_by_i(uint64_t *out, const uint64_t *a) { store(out, fr_by_i(load(a))); }

// a + b, a - b, a + i b, a - i b, unnarrowed until the end.
void czk_host_fr_wide(uint64_t *out, const uint64_t *a, const uint64_t *b) {
    fr_wide_t u = fr_widen(load(a)), v = fr_widen(load(b));
    store(out, fr_narrow(u + v));
    store(out + 4, fr_narrow(u - v));
    store(out + 8, fr_narrow(fr_add_i(u, v)));
    store(out + 12, fr_narrow(fr_sub_i(u, v)));
}

void czk_host_fr_narrow(uint64_t *out, const uint32_t *wide, const int32_t *extra) {
    fr_wide_t t;
    memcpy(t.w, wide, sizeof t.w);
    store(out, fr_narrow(t, extra));
}

int32_t czk_host_fr_quotient(uint32_t mid, uint32_t top) { return fr_quotient(mid, top); }

void czk_host_fr_from_canonical(uint64_t *out, const uint64_t *canonical) {
    words_t c;
    memcpy(&c, canonical, sizeof c);
    store(out, fr_from_canonical(c.w));
}

void czk_host_fr_from_montgomery(uint64_t *out, const uint64_t *montgomery) {
    words_t c;
    memcpy(&c, montgomery, sizeof c);
    store(out, fr_from_montgomery(c.w));
}

void czk_host_fr_to_canonical(uint64_t *out, const uint64_t *a) {
    words_t c;
    fr_to_canonical(c.w, load(a));
    memcpy(out, &c, sizeof c);
}

int32_t czk_host_fr_is_zero(const uint64_t *a) { return fr_is_zero(load(a)); }

void czk_host_fr_constants(uint64_t *out) {
    store(out, fr_one());
    store(out + 4, fr_root());
    store(out + 8, fr_root_inverse());
}

void czk_host_fr_pow(uint64_t *out, const uint64_t *a, uint64_t e) { store(out, fr_pow(load(a), e)); }

} // extern "C"
