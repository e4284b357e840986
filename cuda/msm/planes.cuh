// Scalars that were made ready for cutting, once an MSM: s + K (windows.h), with its words apart from one another.
//
// A window's digits need one or two of a scalar's eight words. In tiles of plane_tile scalars, word i of all of them comes
// before word i + 1 of any: a window reads 4 or 8 bytes a scalar instead of 32, and neither converts nor adds. Planes take
// the place of the scalars they are made from.
#pragma once

#include "exports/msm.h"
#include "field/fr_convert.cuh"
#include "msm/addition.cuh"
#include "msm/windows.h"

namespace czk {

// 32 canonical bytes in device memory.
struct alignas(16) aligned_scalar_t {
    scalar_words_t words;
};

// One term of a call as kernels see it.
struct term_t {
    const uint32_t *indices;
    const void *scalars;
    uint64_t count;
    uint32_t first_base; // number of bases before this term
    int32_t canonical;
    const uint32_t *signs; // null: `scalars` are whole. Else they are planes, and bit i says that point i is negated
};

// Canonical words of a whole scalar.
CZK_FN scalar_words_t canonical_scalar(const void *scalars, bool canonical, uint64_t at) {
    scalar_words_t words;
    if (canonical) {
        words = load_words(static_cast<const aligned_scalar_t *>(scalars) + at).words;
    } else {
        fr_to_canonical(words.word, load_words(static_cast<const fr_t *>(scalars) + at));
    }
    return words;
}

// s + K for scalar `at` of a term, `negate` if its point's sign changes.
CZK_FN scalar_words_t load_scalar(const term_t &term, uint64_t at, const scalar_words_t &offset, bool &negate) {
    scalar_words_t words;
    if (term.signs != nullptr) {
        const plane_place_t place = plane_place(at, term.count);
        const uint32_t *first = static_cast<const uint32_t *>(term.scalars) + place.first;
#pragma unroll
        for (unsigned i = 0; i < 8; i++) words.word[i] = first[i * place.stride];
        negate = (term.signs[at / 32] >> at % 32 & 1) != 0;
    } else {
        words = canonical_scalar(term.scalars, term.canonical != 0, at);
        negate = halve_range(words);
        add_offset(words, offset);
    }
    return words;
}

// The number of scalar `at`'s base.
CZK_FN uint32_t point_of(const term_t &term, uint64_t at) {
    return term.first_base + (term.indices != nullptr ? term.indices[at] : uint32_t(at));
}

// Turns a term's scalars into planes where they are, and writes its signs. A block has one tile, all of which it reads
// before it writes any.
template <bool CANONICAL>
__global__ void __launch_bounds__(plane_tile, CANONICAL ? 3 : 2)
    write_planes(uint32_t *scalars, uint64_t count, scalar_words_t offset, uint32_t *signs) {
    const uint64_t at = uint64_t(blockIdx.x) * plane_tile + threadIdx.x;
    const bool is_there = at < count;
    scalar_words_t words{};
    bool negate = false;
    if (is_there) {
        words = canonical_scalar(scalars, CANONICAL, at);
        negate = halve_range(words);
        add_offset(words, offset);
    }
    const uint32_t lanes = __ballot_sync(0xffffffff, negate);
    if (is_there && threadIdx.x % 32 == 0) signs[at / 32] = lanes;
    __syncthreads();
    if (!is_there) return;
    const plane_place_t place = plane_place(at, count);
#pragma unroll
    for (unsigned i = 0; i < 8; i++) scalars[place.first + i * place.stride] = words.word[i];
}

} // namespace czk
