// Rows times z on the CPU: as a thread does it, and as the lanes of a warp share a long row. For tests/cuda_rows.rs.
#include "exports/rows.h"
#include "field/fr_convert.cuh"
#include "r1cs/rows.cuh"

using namespace czk;

extern "C" {

void czk_host_rows_dictionary(void *out, const void *canonical, uint32_t count) {
    for (uint32_t n = 0; n < count; n++) {
        static_cast<fr_rows_t *>(out)[n] = fr_rows(fr_from_canonical(static_cast<const fr_t *>(canonical)[n].w));
    }
}

void czk_host_rows(const czk_rows_segment_t *segment, const czk_rows_matrix_t *matrix, const czk_rows_z_t *z, void *out) {
    rows_segment_t s = rows_segment(*segment);
    rows_matrix_t m = rows_matrix(*matrix);
    rows_z_t of = rows_z(*z);
    auto *to = static_cast<fr_t *>(out);
    for (uint32_t t = 0; t < s.repeat_count; t++) {
        for (uint32_t row = 0; row < s.row_count; row++, to++) {
            if (m.row_starts[row + 1] - m.row_starts[row] <= CZK_ROWS_LONG) {
                *to = rows_sum(s, m, of, row, t, 0, 1);
                continue;
            }
            *to = fr_zero();
            for (uint32_t lane = 0; lane < ROWS_LANES; lane++) {
                *to = fr_add(*to, rows_sum(s, m, of, row, t, lane, ROWS_LANES));
            }
        }
    }
}

} // extern "C"
