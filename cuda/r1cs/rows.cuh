// A z and B z from stored rows and the compact assignment (src/r1cs/mod.rs and src/assignment/mod.rs say what these are).
//
// A term is a coefficient times a value of z. Nearly all values are bits: a term is then nothing, or the coefficient
// itself, added on wide digits. A product is taken for full-size values alone, and not for coefficients 1 and -1.
//
// Terms are narrow (below 0.84 2^64 a digit, fr.cuh), so that ROWS_TERMS of them may be added to a narrow sum before it
// is narrowed again: 9 * 0.84 < 8.
#pragma once

#include "exports/rows.h"
#include "field/fr_mul.cuh"
#include "ntt/pass.cuh"

namespace czk {

constexpr uint32_t ROWS_TERMS = 8;
constexpr uint32_t ROWS_ESCAPE = 0xffff;
constexpr uint32_t ROWS_LANES = 32;

// A coefficient: its rows for products, in device form.
struct rows_matrix_t {
    const uint32_t *row_starts, *columns;
    const uint16_t *coefficients;
    const uint32_t *escape_positions; // ascending
    const fr_rows_t *escapes;
    uint32_t escape_count;
};

struct rows_segment_t {
    uint32_t row_count, repeat_count, input_count;
    uint32_t aux_base, aux_stride, input_base, input_stride, port_count;
    const uint32_t *ports;
    const fr_rows_t *dictionary;
    uint32_t dictionary_one, dictionary_minus_one; // indices of 1 and -1, or ROWS_ESCAPE
};

struct rows_z_t {
    const fr_t *inputs;
    const uint32_t *bits;      // one per aux variable
    const uint32_t *full_bits; // which are full-size instead
    const uint32_t *rank;      // full-size ones before each 64
    const fr_t *full;
};

// From the C interface's structs: the same, with types. Host code.
inline rows_segment_t rows_segment(const czk_rows_segment_t &s) {
    auto *dictionary = static_cast<const fr_rows_t *>(s.d_dictionary);
    return rows_segment_t{s.row_count,  s.repeat_count, s.input_count,    s.aux_base,
                          s.aux_stride, s.input_base,   s.input_stride,   s.port_count,
                          s.d_ports,    dictionary,     s.dictionary_one, s.dictionary_minus_one};
}

inline rows_matrix_t rows_matrix(const czk_rows_matrix_t &m) {
    return rows_matrix_t{m.d_row_starts,       m.d_columns, m.d_coefficients,
                         m.d_escape_positions, static_cast<const fr_rows_t *>(m.d_escapes), m.escape_count};
}

inline rows_z_t rows_z(const czk_rows_z_t &z) {
    return rows_z_t{static_cast<const fr_t *>(z.d_inputs), reinterpret_cast<const uint32_t *>(z.d_bits),
                    reinterpret_cast<const uint32_t *>(z.d_full_bits), z.d_rank, static_cast<const fr_t *>(z.d_full)};
}

CZK_FN uint32_t rows_ones(uint32_t word) {
#ifdef __CUDACC__
    return __popc(word);
#else
    return uint32_t(__builtin_popcount(word));
#endif
}

CZK_FN uint32_t rows_read(const uint32_t *from) {
#ifdef __CUDACC__
    return __ldg(from);
#else
    return *from;
#endif
}

CZK_FN uint32_t rows_read(const uint16_t *from) {
#ifdef __CUDACC__
    return __ldg(from);
#else
    return *from;
#endif
}

// Where column `column` points in repeat `t`: an input, or an aux variable counted from input_count.
CZK_FN uint32_t rows_index(const rows_segment_t &s, uint32_t column, uint32_t t) {
    uint32_t value = column & 0x3fffffff;
    switch (column >> 30) {
    case 0: return s.input_count + s.aux_base + t * s.aux_stride + value;
    case 1: return s.input_base + t * s.input_stride + value;
    case 2: return rows_read(s.ports + t * s.port_count + value);
    default: return value;
    }
}

CZK_FN const fr_rows_t *rows_coefficient(const rows_segment_t &s, const rows_matrix_t &m, uint32_t position,
                                         uint32_t code) {
    if (code != ROWS_ESCAPE) return s.dictionary + code;
    uint32_t low = 0, high = m.escape_count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (rows_read(m.escape_positions + middle) < position) low = middle + 1;
        else high = middle;
    }
    return m.escapes + low;
}

// sum += the term at `position`. The sum is narrowed by the caller after ROWS_TERMS terms at most.
CZK_FN void rows_add_term(fr_wide_t &sum, const rows_segment_t &s, const rows_matrix_t &m, const rows_z_t &z,
                          uint32_t position, uint32_t t) {
    uint32_t index = rows_index(s, rows_read(m.columns + position), t);
    const fr_t *full = nullptr;
    if (index >= s.input_count) {
        uint32_t aux = index - s.input_count, word = aux / 32, mask = 1u << (aux % 32);
        uint32_t full_word = rows_read(z.full_bits + word);
        if (full_word & mask) {
            uint32_t rank = rows_read(z.rank + aux / 64) + rows_ones(full_word & (mask - 1));
            if (word & 1) rank += rows_ones(rows_read(z.full_bits + word - 1));
            full = z.full + rank;
        } else if ((rows_read(z.bits + word) & mask) == 0) {
            return;
        }
    } else if (index != 0) {
        full = z.inputs + index;
    }
    uint32_t code = rows_read(m.coefficients + position);
    const fr_rows_t *coefficient = rows_coefficient(s, m, position, code);
    if (full == nullptr) {
        sum = sum + fr_widen(ntt_load_constant(&coefficient->w));
        return;
    }
    fr_t value = ntt_load_constant(full);
    if (code == s.dictionary_minus_one) {
        sum = sum - fr_widen(value);
    } else if (code == s.dictionary_one) {
        sum = sum + fr_widen(value);
    } else {
        sum = sum + fr_widen(fr_mul(value, ntt_load_rows(coefficient)));
    }
}

// Every `step`-th term of row `row` from the one at `first` on: all of a row with (0, 1), a lane's share with (lane, 32).
CZK_FN fr_t rows_sum(const rows_segment_t &s, const rows_matrix_t &m, const rows_z_t &z, uint32_t row, uint32_t t,
                     uint32_t first, uint32_t step) {
    uint32_t position = rows_read(m.row_starts + row) + first, end = rows_read(m.row_starts + row + 1);
    if (position >= end) return fr_zero();
    fr_wide_t sum = fr_widen(fr_zero());
#ifdef __CUDACC__
#pragma unroll 1
#endif
    for (uint32_t n = 0; position < end; position += step, n++) {
        if (n == ROWS_TERMS) {
            sum = fr_widen(fr_narrow(sum));
            n = 0;
        }
        rows_add_term(sum, s, m, z, position, t);
    }
    return fr_narrow(sum);
}

} // namespace czk
