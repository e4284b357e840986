// Affine additions of many pairs with shared inversions: the work horse of every sum of points here.
//
// Montgomery's trick turns the divisions of a batch into three products each: forward, a thread keeps the running product
// of its denominators and stores what it was before each; four threads share one inversion; backward, the inverse of each
// denominator is split off. 5 M + 1 S an addition (addition.cuh), and 96 + 48 + 48 + 192 + 96 bytes of traffic in G1.
//
// No condition of one pair is used behind a call but through memory. A predicate that lives across a call takes one of seven
// from the product that is called, which then moves its carries through registers: 655 instructions instead of 435.
#pragma once

#include "msm/pair_tiles.cuh"

namespace czk {

// x2 - x1 for a plain pair, 1 for one that isn't there.
template <class F, class Source, unsigned THREADS>
CZK_FN F denominator_of(const pair_tiles_t<F, Source, THREADS> &tiles, uint32_t round, bool plain, const F &x1, const F &x2) {
    const F denominator = plain ? sub(x2, x1) : rare_denominator(tiles.addition(round, round));
    return tiles.is_there(round) ? denominator : one<F>();
}

// Forward over the block's rounds: the product of all denominators, what it was before each being stored.
template <class F, class Source, unsigned THREADS>
CZK_FN F multiply_denominators(const pair_tiles_t<F, Source, THREADS> &tiles, uint32_t rounds) {
    F product = one<F>();
    tiles.fetch_entry(0, 0);
    __pipeline_commit();
    tiles.arrive();
    tiles.copy_x(0);
    tiles.fetch_entry(1, 1);
    __pipeline_commit();
#pragma unroll 1
    for (uint32_t round = 0; round < rounds; round++) {
        tiles.arrive();
        const F x1 = tiles.load(0), x2 = tiles.load(tiles.right_row);
        const F denominator = denominator_of(tiles, round, is_plain(x1, x2), x1, x2);
        __syncwarp();
        tiles.fetch_entry(round + 2, round);
        tiles.copy_x(round + 1);
        __pipeline_commit();
        tiles.keep_before(round, product);
        product = mul(product, denominator);
    }
    tiles.arrive();
    return product;
}

// Replaces every thread's `product` by its inverse: lane l of the first warp inverts the product of threads l, l + 32, …
template <class F, unsigned THREADS>
CZK_FN F invert_in_block(const F &product, F *shared) {
    constexpr unsigned shares = THREADS / 32;
    __syncthreads();
    store_words(shared + threadIdx.x, product);
    __syncthreads();
    if (threadIdx.x < 32) {
        F before[shares];
        F running = load_words(shared + threadIdx.x);
#pragma unroll
        for (unsigned i = 1; i < shares; i++) {
            before[i] = running;
            running = mul(running, load_words(shared + threadIdx.x + 32 * i));
        }
        F inverse = inv(running);
#pragma unroll
        for (unsigned i = shares - 1; i > 0; i--) {
            F own = load_words(shared + threadIdx.x + 32 * i);
            store_words(shared + threadIdx.x + 32 * i, mul(inverse, before[i]));
            inverse = mul(inverse, own);
        }
        store_words(shared + threadIdx.x, inverse);
    }
    __syncthreads();
    const F inverse = load_words(shared + threadIdx.x);
    __syncthreads();
    return inverse;
}

// Backward: the sum of the pair of `round`, whose copies have been started; starts those of the round before.
template <class F, class Source, unsigned THREADS>
CZK_FN void add_round(const pair_tiles_t<F, Source, THREADS> &tiles, uint32_t round, F &inverse) {
    constexpr unsigned pieces = pair_tiles_t<F, Source, THREADS>::pieces, right = 4 * pieces;
    const unsigned left = tiles.left_row(round);
    tiles.arrive();
    const addition_t<F> pair = tiles.addition(round, round);
    const F x1 = tiles.load(left), x2 = tiles.load(right);
    const bool plain = is_plain(x1, x2);
    const F denominator = denominator_of(tiles, round, plain, x1, x2);
    tiles.mark() = !tiles.is_there(round);
    if (!plain && tiles.is_there(round)) tiles.mark() = finish_rare<F, THREADS + 1>(pair, tiles.at(right + pieces));
    if (pair.left_negative) tiles.negate(left + pieces);
    if (pair.right_negative) tiles.negate(right + pieces);
    const F own_inverse = mul(inverse, tiles.load(tiles.before_row));
    inverse = mul(inverse, denominator);
    const F numerator = sub(tiles.load(right + pieces), tiles.load(left + pieces));
    __syncwarp();
    tiles.fetch_entry(round > 1 ? round - 2 : 0, round);
    tiles.copy_all(round > 0 ? round - 1 : 0, round + 1);
    __pipeline_commit();
    const F slope = mul(numerator, own_inverse);
    const F x3 = sqr_sub(slope, tiles.load(left), x2);
    const F y3 = mul_sub(slope, sub(tiles.load(left), x3), tiles.load(left + pieces));
    if (tiles.mark() == 0) store_words(pair.out, affine_t<F>{x3, y3});
}

// Adds the pairs of `source`, `count` > 0 of them. A block takes THREADS * rounds, each thread every THREADS-th. `before`
// has room for whole tiles of THREADS products.
template <class F, class Source, unsigned THREADS, unsigned BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    add_pairs(Source source, uint32_t count, uint32_t rounds, F *before) {
    extern __shared__ __align__(16) uint4 shared[];
    using tiles_t = pair_tiles_t<F, Source, THREADS>;
    const uint32_t first_tile = blockIdx.x * rounds, tile_count = (count + THREADS - 1) / THREADS;
    rounds = min(rounds, tile_count - first_tile);
    const tiles_t tiles{source, shared, reinterpret_cast<uint4 *>(before) + uint64_t(first_tile) * (tiles_t::pieces * THREADS),
                        count, first_tile * THREADS + threadIdx.x};
    F inverse = invert_in_block<F, THREADS>(multiply_denominators(tiles, rounds), reinterpret_cast<F *>(shared));
    tiles.fetch_entry(rounds - 1, rounds - 1);
    __pipeline_commit();
    tiles.arrive();
    tiles.copy_all(rounds - 1, rounds - 1);
    tiles.fetch_entry(rounds > 1 ? rounds - 2 : 0, rounds);
    __pipeline_commit();
#pragma unroll 1
    for (uint32_t round = rounds; round-- > 0;) add_round(tiles, round, inverse);
    tiles.arrive();
}

} // namespace czk
