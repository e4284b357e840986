// Transforms over Fr and what is built of them. Vectors are 2^lg_size elements in device form (fr_t, 32 bytes), in
// natural order; lg_size 1 … 28. poll may be null.
#pragma once

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Tables of roots for all sizes, made once per device: bytes to allocate, and what fills them.
uint64_t czk_ntt_tables_bytes(void);
czk_status_t czk_ntt_tables(void *d_tables, void *stream);

// out[k] = sum of data[n] w^(n k), w of order 2^lg_size (blstrs' ROOT_OF_UNITY to the power 2^(32 - lg_size)); inverse:
// w^-1, divided by 2^lg_size. coset: values at g w^k, g of order 2^(lg_size + 1), or (inverse) coefficients from these.
// data is destroyed; data and out are different vectors.
czk_status_t czk_ntt(const void *d_tables, void *d_data, void *d_out, uint32_t lg_size, uint32_t inverse,
                     uint32_t coset, void *stream, const czk_poll_t *poll);

// From values on the domain to values on the coset, in place.
czk_status_t czk_ntt_to_coset(const void *d_tables, void *d_data, uint32_t lg_size, void *stream,
                              const czk_poll_t *poll);

// D = NTT diag(k) iNTT: w^k p'(w^k) from the values of p on the domain, in place.
czk_status_t czk_ntt_derivative(const void *d_tables, void *d_data, uint32_t lg_size, void *stream,
                                const czk_poll_t *poll);

// The 2^lg_size coefficients of h = (A B - C) / (x^n - 1), from the values a and b of A and B on the domain, where C has
// the values a b (a satisfied assignment). a, b and work are three vectors and all destroyed; *d_h says in which h is.
czk_status_t czk_quotient(const void *d_tables, void *d_a, void *d_b, void *d_work, uint32_t lg_size, void **d_h,
                          void *stream, const czk_poll_t *poll);

// For benches: pass `pass` of czk_ntt_to_coset alone (there are 2 ceil(lg_size / 9) - 1). *butterflies: of radix 2.
czk_status_t czk_ntt_pass(const void *d_tables, void *d_data, uint32_t lg_size, uint32_t pass, uint64_t *butterflies,
                          void *stream);

// Canonical little-endian integers of 32 bytes (from: any 256-bit integer, taken modulo r) and device form. out may be in.
czk_status_t czk_fr_from_canonical(void *d_out, const void *d_in, uint64_t count, void *stream);
// From blst's form in memory: v 2^256 modulo r, little-endian.
czk_status_t czk_fr_from_montgomery(void *d_out, const void *d_in, uint64_t count, void *stream);
czk_status_t czk_fr_to_canonical(void *d_out, const void *d_in, uint64_t count, void *stream);

#ifdef __cplusplus
}
#endif
