// Rows of A or B times z, from the block form of the R1CS (src/r1cs/mod.rs) and the compact assignment
// (src/assignment/mod.rs). All d_ pointers are to device memory; fr_t and coefficients aligned to 16 bytes.
#pragma once

#include "runtime/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rows with more non-zeros than this are listed as long ones and get a warp each.
enum { CZK_ROWS_LONG = 24 };

// Coefficients are kept as 64 bytes in device form: czk_rows_dictionary.
typedef struct {
    uint32_t row_count, repeat_count, input_count;
    uint32_t aux_base, aux_stride, input_base, input_stride, port_count;
    const uint32_t *d_ports;
    const void *d_dictionary;
    uint32_t dictionary_one, dictionary_minus_one; // indices of 1 and -1 in the dictionary, 0xffff where it has none
} czk_rows_segment_t;

typedef struct {
    const uint32_t *d_row_starts; // row_count + 1
    const uint32_t *d_columns;
    const uint16_t *d_coefficients;
    const uint32_t *d_escape_positions; // ascending; one per coefficient 0xffff
    const void *d_escapes;              // 64 bytes each, like the dictionary
    const uint32_t *d_long_rows;        // all rows with more than CZK_ROWS_LONG non-zeros
    uint32_t escape_count, long_count;
} czk_rows_matrix_t;

typedef struct {
    const void *d_inputs;        // input_count fr_t, ONE first
    const uint64_t *d_bits;      // a bit per aux variable
    const uint64_t *d_full_bits; // the layout's bitmap
    const uint32_t *d_rank;      // full-size variables before each word of the bitmap
    const void *d_full;          // fr_t of the full-size variables
} czk_rows_z_t;

// Coefficients in 64 bytes each, from canonical little-endian integers of 32 bytes.
czk_status_t czk_rows_dictionary(void *d_out, const void *d_canonical, uint32_t count, void *stream);

// out[t row_count + row] = row `row` in repeat t, times z: row_count × repeat_count elements in device form.
czk_status_t czk_rows(const czk_rows_segment_t *segment, const czk_rows_matrix_t *matrix, const czk_rows_z_t *z,
                      void *d_out, void *stream);

#ifdef __cplusplus
}
#endif
