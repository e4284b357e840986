// The host twin of the MSM's index logic (windows.h, tree.h, split.h and launch.h of msm/), behind C functions for
// tests/cuda_msm.rs.
#include "msm/launch.h"
#include "msm/split.h"
#include "msm/tree.h"

#include <cstring>
#include <vector>

using namespace czk;

namespace {

uint64_t &at(std::vector<uint64_t> &slots, uint32_t slot) { return slots.at(slot); }

// Level 0 of one segment: pairs of items, an odd last item, the sum so far.
void first_level(const segment_t &segment, uint32_t base, const uint64_t *items, uint64_t sum, std::vector<uint64_t> &slots) {
    uint32_t slot = base;
    for (uint32_t j = 0; j < segment.pairs_at(0); j++) {
        at(slots, slot++) = items[segment.start + 2 * j] + items[segment.start + 2 * j + 1];
    }
    if (segment.items % 2 != 0) at(slots, slot++) = items[segment.start + segment.items - 1];
    if (segment.has_sum) at(slots, slot++) = sum;
}

} // namespace

extern "C" {

uint32_t czk_host_window(uint32_t windows, uint32_t window, uint32_t *low, uint32_t *buckets) {
    windows_t all{windows};
    *low = all.low(window);
    *buckets = all.buckets(window);
    return all.width(window);
}

// The digits of eight words s < r; true if the scalar was negated.
bool czk_host_digits(uint32_t windows, const uint32_t *words, int32_t *digits) {
    windows_t all{windows};
    scalar_words_t s;
    memcpy(s.word, words, sizeof s.word);
    bool negated = halve_range(s);
    add_offset(s, digit_offset(all));
    for (uint32_t w = 0; w < windows; w++) digits[w] = signed_digit(s, all, w);
    return negated;
}

// Where word `word` of scalar `at` of `count` is when they are in planes.
uint64_t czk_host_plane_word(uint64_t at, uint64_t count, uint32_t word) {
    const plane_place_t place = plane_place(at, count);
    return place.first + uint64_t(word) * place.stride;
}

// Whether windows of 2^lg_buckets buckets are split, the bits of each step, and the rooms of a part.
bool czk_host_split(uint32_t lg_buckets, uint64_t items, uint32_t bits[3], uint64_t rooms[2]) {
    const split_shape_t shape(lg_buckets, items);
    if (!can_split(lg_buckets)) return false;
    bits[0] = shape.lg_buckets - shape.lg_first(), bits[1] = shape.lg_first() - shape.lg_last(), bits[2] = shape.lg_last();
    rooms[0] = shape.first_room, rooms[1] = shape.last_room;
    return true;
}

// Blocks of `bytes` shared memory on one multiprocessor of a card.
uint32_t czk_host_blocks_at_once(uint32_t shared_bytes, uint32_t shared_block_bytes, uint32_t bytes, uint32_t most) {
    return blocks_at_once({1, shared_bytes, shared_block_bytes}, bytes, most);
}

// The launch of `tiles` tiles of pairs. Returns its blocks.
uint32_t czk_host_pair_launch(uint64_t tiles, uint64_t resident, uint32_t rounds_max, uint32_t *rounds) {
    const pair_launch_t launch = pair_launch(tiles, resident, rounds_max);
    *rounds = launch.rounds;
    return launch.blocks;
}

// The tree as the kernels walk it, over integers: buckets[b] += its items in [begin, end). pairs[l] counts each level's
// pairs. Returns how many slots were used.
uint32_t czk_host_tree(const uint32_t *starts, uint32_t begin, uint32_t end, uint32_t first, uint32_t count,
                       bool all_have_sums, const uint64_t *items, uint64_t *buckets, uint32_t *pairs) {
    chunk_t chunk{begin, end, first, count, all_have_sums};
    std::vector<uint32_t> slot_offsets, pair_offsets(count);
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        slot_offsets.push_back(used);
        used += segment_of(chunk, starts[first + i], starts[first + i + 1]).slots();
    }
    std::vector<uint64_t> slots(used);
    for (uint32_t level = 0; level < tree_levels_max; level++) {
        pairs[level] = 0;
        for (uint32_t i = 0; i < count; i++) {
            segment_t segment = segment_of(chunk, starts[first + i], starts[first + i + 1]);
            pair_offsets[i] = pairs[level];
            pairs[level] += segment.pairs_at(level);
            if (level == 0) first_level(segment, slot_offsets[i], items, buckets[first + i], slots);
        }
        for (uint32_t k = 0; level > 0 && k < pairs[level]; k++) {
            uint32_t i = last_not_above(pair_offsets.data(), 0, count, k), j = k - pair_offsets[i];
            segment_t segment = segment_of(chunk, starts[first + i], starts[first + i + 1]);
            uint32_t left = slot_offsets[i] + j;
            at(slots, left) += at(slots, left + (segment.slots_at(level) + 1) / 2);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        segment_t segment = segment_of(chunk, starts[first + i], starts[first + i + 1]);
        if (segment.items == 0) continue;
        uint64_t sum = slots[slot_offsets[i]];
        buckets[first + i] = segment.is_later ? buckets[first + i] + sum : sum;
    }
    return used;
}

} // extern "C"
