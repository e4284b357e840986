// The pairwise tree over sorted items. Plain index logic, for host and device.
//
// The items of bucket b are the sorted positions [starts[b], starts[b + 1]). They are worked off in chunks of positions;
// a chunk's share of a bucket is its segment. Level 0 adds the pairs (2j, 2j + 1) of a segment's items, gathered from the
// bases, into slot j of the segment; an odd last item is copied into the next slot, and the bucket's sum from before the
// first chunk, if it has one, into one more, in the chunk where the bucket begins. Every later level halves a segment's m
// slots in place: slot j += slot j + ceil(m / 2) for j < floor(m / 2). An odd slot in the middle stays where it is, so
// nothing is ever moved, and each level's pairs of all segments are numbered without gaps: no thread is idle because of odd
// counts or because buckets differ in size, and one bucket with all items is as parallel as many.
//
// Chunks don't wait for each other: the sum of a segment whose bucket began in an earlier chunk, which can only be a chunk's
// first one, is added to the bucket at last.
#pragma once

#include "msm/windows.h"

namespace czk {

constexpr uint32_t tree_levels_max = 32;

// A chunk of sorted positions.
struct chunk_t {
    uint32_t begin, end;   // positions
    uint32_t first, count; // buckets that have items in it: [first, first + count)
    bool all_have_sums;    // every bucket holds a sum from before
};

// One bucket's share of a chunk.
struct segment_t {
    uint32_t start, items;
    bool has_sum;  // a sum from before is among its slots
    bool is_later; // its bucket began in an earlier chunk

    // Slots after level 0.
    CZK_INDEX uint32_t slots() const { return items / 2 + items % 2 + (has_sum ? 1 : 0); }
    // Slots that level >= 1 starts with: ceil(slots / 2^(level - 1)).
    CZK_INDEX uint32_t slots_at(uint32_t level) const {
        uint32_t halvings = level - 1;
        return halvings >= 32 ? (slots() > 0) : uint32_t((uint64_t(slots()) + (uint64_t(1) << halvings) - 1) >> halvings);
    }
    CZK_INDEX uint32_t pairs_at(uint32_t level) const { return level == 0 ? items / 2 : slots_at(level) / 2; }
};

CZK_INDEX segment_t segment_of(const chunk_t &chunk, uint32_t bucket_start, uint32_t bucket_end) {
    uint32_t start = bucket_start > chunk.begin ? bucket_start : chunk.begin;
    uint32_t end = bucket_end < chunk.end ? bucket_end : chunk.end;
    segment_t segment{start, end > start ? end - start : 0, false, bucket_start < chunk.begin};
    segment.has_sum = segment.items > 0 && chunk.all_have_sums && !segment.is_later;
    return segment;
}

// The last b in [low, high) with offsets[b] <= value, where offsets ascend and offsets[low] <= value. Among equal offsets
// the last is the one that is not empty.
CZK_INDEX uint32_t last_not_above(const uint32_t *offsets, uint32_t low, uint32_t high, uint32_t value) {
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (offsets[middle] <= value) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

} // namespace czk
