// How the pairs of one block get to its threads: operands are on their way to shared memory while the pair before is added.
//
// Loads into registers would be waited for before the next call, and a product is a call. cp.async has no register to wait
// for. Each thread adds its own pairs, every THREADS-th of the block's; two neighbouring lanes copy their operands together,
// so that every access is to a whole sector of 32 bytes.
//
// Shared memory is in rows of 16 bytes a thread, and one column more than there are threads: the two halves of a sector,
// which go to two rows of one column, are then in different banks.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "msm/addition.cuh"

#define CZK_MEMBER __device__ __forceinline__

namespace czk {

// A source of pairs has make(source, k), or, if it is `listed`, make(source, entry) for entry k of its `list`.
template <class F, class Source, unsigned THREADS>
struct pair_tiles_t {
    using entry_t = typename Source::entry_t;
    static constexpr unsigned pieces = sizeof(F) / 16, columns = THREADS + 1;
    // Left points of two rounds, since x and y are needed until the end of one; the right point, and the product before.
    static constexpr unsigned right_row = 4 * pieces, before_row = 6 * pieces, rows = 7 * pieces;
    static constexpr unsigned entry_words = Source::listed ? 2 * THREADS * sizeof(entry_t) / 16 : 0;
    static constexpr unsigned shared_bytes = (rows * columns + entry_words) * 16 + THREADS * sizeof(uint32_t);

    const Source source;
    uint4 *const shared;
    uint4 *const before; // of the block's first tile: `pieces` rows of THREADS words a tile
    const uint32_t count, first;

    CZK_MEMBER uint4 *at(unsigned row) const { return shared + row * columns + threadIdx.x; }
    CZK_MEMBER unsigned left_row(uint32_t round) const { return (round & 1) * 2 * pieces; }
    // 1 for a pair that add_round must not store: kept here from before its calls until after them.
    CZK_MEMBER volatile uint32_t &mark() const {
        return reinterpret_cast<volatile uint32_t *>(shared + rows * columns + entry_words)[threadIdx.x];
    }

    // The thread's pair of a round. Rounds beyond the block's and pairs beyond the last are copied too, and not stored.
    CZK_MEMBER uint32_t number(uint32_t round) const { return first + round * THREADS; }
    CZK_MEMBER uint32_t copied(uint32_t round) const { return min(number(round), count - 1); }
    CZK_MEMBER bool is_there(uint32_t round) const { return number(round) < count; }

    // List entries of two rounds, in places 0 and 1.
    CZK_MEMBER entry_t *entry(unsigned place) const {
        return reinterpret_cast<entry_t *>(shared + rows * columns) + (place & 1) * THREADS + threadIdx.x;
    }
    CZK_MEMBER void fetch_entry(uint32_t round, unsigned place) const {
        if constexpr (Source::listed) {
            __pipeline_memcpy_async(entry(place), source.list + copied(round), sizeof(entry_t));
        }
    }
    CZK_MEMBER addition_t<F> addition(uint32_t round, unsigned place) const {
        if constexpr (Source::listed) {
            return Source::make(source, *entry(place));
        } else {
            return Source::make(source, copied(round));
        }
    }

    CZK_MEMBER F load(unsigned row) const {
        F value;
#pragma unroll
        for (unsigned i = 0; i < pieces; i++) reinterpret_cast<uint4 *>(&value)[i] = *at(row + i);
        return value;
    }
    CZK_MEMBER void negate(unsigned row) const { store_column<columns>(at(row), neg(load(row))); }

    // Copies WORDS times 16 bytes from each lane's `from` to its column, from `row` on. By all lanes of a warp. The pointers
    // are selected by bits: a predicate would be kept across calls.
    template <unsigned WORDS>
    CZK_MEMBER void copy(unsigned row, const void *from) const {
        const uint64_t half = threadIdx.x & 1, is_odd = 0 - half;
        const uint64_t own = reinterpret_cast<uint64_t>(from), other = __shfl_xor_sync(0xffffffff, own, 1);
        const uint4 *even = reinterpret_cast<const uint4 *>((own & ~is_odd) | (other & is_odd)) + half;
        const uint4 *odd = reinterpret_cast<const uint4 *>((own & is_odd) | (other & ~is_odd)) + half;
        uint4 *to = at(row + unsigned(half)) - half;
#pragma unroll
        for (unsigned i = 0; i + 1 < WORDS; i += 2) {
            __pipeline_memcpy_async(to + i * columns, even + i, 16);
            __pipeline_memcpy_async(to + i * columns + 1, odd + i, 16);
        }
        if (WORDS % 2 != 0) {
            __pipeline_memcpy_async(at(row + WORDS - 1), static_cast<const uint4 *>(from) + WORDS - 1, 16);
        }
    }

    CZK_MEMBER uint4 *before_at(uint32_t round) const { return before + uint64_t(round) * (pieces * THREADS) + threadIdx.x; }
    CZK_MEMBER void keep_before(uint32_t round, const F &product) const {
        store_column<THREADS>(before_at(round), product);
    }

    // Starts the copies that the forward pass needs of a round.
    CZK_MEMBER void copy_x(uint32_t round) const {
        const addition_t<F> pair = addition(round, round);
        copy<pieces>(0, &pair.left->x);
        copy<pieces>(right_row, &pair.right->x);
    }

    // Starts the copies that the backward pass needs of a round, whose entry is in `place`; the left point's go where that of
    // a round of this parity is.
    CZK_MEMBER void copy_all(uint32_t round, unsigned place) const {
        const addition_t<F> pair = addition(round, place);
        copy<2 * pieces>(left_row(place), pair.left);
        copy<2 * pieces>(right_row, pair.right);
        const uint4 *from = before_at(round);
#pragma unroll
        for (unsigned i = 0; i < pieces; i++) __pipeline_memcpy_async(at(before_row + i), from + i * THREADS, 16);
    }

    // Waits for all copies of the warp's lanes.
    CZK_MEMBER void arrive() const {
        __pipeline_wait_prior(0);
        __syncwarp();
    }
};

#undef CZK_MEMBER

} // namespace czk
