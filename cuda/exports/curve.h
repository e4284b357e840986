// Points between their stored forms and the device's. Arrays are device memory unless said otherwise; points in the
// device's form are opaque: 96 bytes affine in G1 and 192 in G2, twice that in XYZZ.
#pragma once

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Decodes `count` uncompressed big-endian points, as SRS files store them (Zcash: three flag bits on top of the first
// byte; compressed 0, infinity, sign 0), 96 bytes each in G1 and 192 in G2, and checks each: coordinates below p, on the
// curve, infinity all zero. *d_first_bad must hold UINT64_MAX or an earlier answer; it becomes the least of itself and
// base + i over the bad points i, whose output is infinity. d_points and d_bytes may not overlap.
czk_status_t czk_g1_load(void *d_points, const void *d_bytes, uint64_t count, uint64_t base, uint64_t *d_first_bad,
                         void *stream);
czk_status_t czk_g2_load(void *d_points, const void *d_bytes, uint64_t count, uint64_t base, uint64_t *d_first_bad,
                         void *stream);

// The way back: uncompressed big-endian bytes of affine points.
czk_status_t czk_g1_store(void *d_bytes, const void *d_points, uint64_t count, void *stream);
czk_status_t czk_g2_store(void *d_bytes, const void *d_points, uint64_t count, void *stream);

// Points in XYZZ form to Jacobian coordinates X, Y, Z in Montgomery form with factor 2^384, little-endian: what blst_p1
// (144 bytes) and blst_p2 (288 bytes) hold. Infinity has Z = 0.
czk_status_t czk_g1_to_jacobian(void *d_jacobian, const void *d_xyzz, uint64_t count, void *stream);
czk_status_t czk_g2_to_jacobian(void *d_jacobian, const void *d_xyzz, uint64_t count, void *stream);

#ifdef __cplusplus
}
#endif
