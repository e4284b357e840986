// Which points of a query the ones of an assignment select (exports/msm.h, czk_ones_indices).
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "exports/msm.h"
#include "runtime/check.cuh"

namespace {

using namespace czk;

struct ones_bits_t {
    const uint64_t *bits, *density, *without;

    __host__ __device__ uint64_t dense(uint64_t word) const { return density ? density[word] : ~uint64_t(0); }
    __host__ __device__ uint64_t taken(uint64_t word) const {
        return bits[word] & dense(word) & (without ? ~without[word] : ~uint64_t(0));
    }
};

// Of the words before: points in the query, and ones taken.
struct ranks_t {
    uint32_t dense, taken;
};

struct add_ranks_t {
    __host__ __device__ ranks_t operator()(const ranks_t &a, const ranks_t &b) const {
        return {a.dense + b.dense, a.taken + b.taken};
    }
};

struct word_ranks_t {
    ones_bits_t bits;
    uint64_t words;

    // One word more than there are, so that the last prefix is the total.
    __device__ ranks_t operator()(uint64_t word) const {
        if (word >= words) return {0, 0};
        return {uint32_t(__popcll(bits.dense(word))), uint32_t(__popcll(bits.taken(word)))};
    }
};

constexpr unsigned words_a_block = 256;

// A warp writes the indices of 32 words, one word after the other with a lane for each bit pair, so that writes of
// neighbouring lanes are neighbours.
__global__ void write_indices(ones_bits_t bits, uint64_t words, const ranks_t *before, uint32_t *indices,
                              uint64_t index_max, uint32_t *count) {
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t first = uint64_t(blockIdx.x) * words_a_block + (threadIdx.x - lane);
    if (blockIdx.x == 0 && threadIdx.x == 0) *count = before[words].taken;
    for (uint64_t word = first; word < first + 32 && word < words; word++) {
        const uint64_t dense = bits.dense(word), taken = bits.taken(word);
        const ranks_t ranks = before[word];
        for (uint32_t half = 0; half < 2; half++) {
            const uint32_t bit = half * 32 + lane;
            const uint64_t below = (uint64_t(1) << bit) - 1;
            const uint64_t at = ranks.taken + uint64_t(__popcll(taken & below));
            if ((taken >> bit & 1) != 0 && at < index_max) {
                indices[at] = ranks.dense + uint32_t(__popcll(dense & below));
            }
        }
    }
}

czk_status_t scan_ranks(const word_ranks_t &ranks, ranks_t *before, void *temporary, size_t &bytes, cudaStream_t stream) {
    auto input = thrust::make_transform_iterator(thrust::make_counting_iterator(uint64_t(0)), ranks);
    CZK_CUDA(cub::DeviceScan::ExclusiveScan(temporary, bytes, input, before, add_ranks_t{}, ranks_t{0, 0},
                                            uint32_t(ranks.words + 1), stream));
    return ok();
}

uint64_t ranks_bytes(uint64_t words) { return ((words + 1) * sizeof(ranks_t) + 255) / 256 * 256; }

// CUB keeps a few words for each tile of at least 128 entries.
uint64_t scan_room(uint64_t words) { return (1 << 16) + words / 2; }

} // namespace

extern "C" {

uint64_t czk_ones_workspace_bytes(uint64_t word_count) { return ranks_bytes(word_count) + scan_room(word_count); }

czk_status_t czk_ones_indices(const uint64_t *d_bits, const uint64_t *d_density, const uint64_t *d_without,
                              uint64_t word_count, uint32_t *d_indices, uint64_t index_max, uint32_t *d_count,
                              void *d_workspace, uint64_t workspace_bytes, void *stream) {
    CZK_REQUIRE(word_count < (uint64_t(1) << 26), CZK_INVALID);
    CZK_REQUIRE(workspace_bytes >= czk_ones_workspace_bytes(word_count), CZK_WORKSPACE);
    const cudaStream_t on = static_cast<cudaStream_t>(stream);
    if (word_count == 0) {
        CZK_CUDA(cudaMemsetAsync(d_count, 0, sizeof *d_count, on));
        return ok();
    }
    const ones_bits_t bits{d_bits, d_density, d_without};
    ranks_t *before = static_cast<ranks_t *>(d_workspace);
    void *temporary = static_cast<unsigned char *>(d_workspace) + ranks_bytes(word_count);
    size_t needed = 0;
    CZK_TRY(scan_ranks({bits, word_count}, before, nullptr, needed, on));
    CZK_REQUIRE(needed <= scan_room(word_count), CZK_WORKSPACE);
    CZK_TRY(scan_ranks({bits, word_count}, before, temporary, needed, on));
    const uint32_t blocks = uint32_t((word_count + words_a_block - 1) / words_a_block);
    CZK_LAUNCH(write_indices<<<blocks, words_a_block, 0, on>>>(bits, word_count, before, d_indices, index_max, d_count));
    return ok();
}

} // extern "C"
