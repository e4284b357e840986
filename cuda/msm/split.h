// How the digits of one large window get into the order of their buckets. Plain index logic, for host and device.
//
// Two splits by 7 bits each, the upper ones first, leave 2^14 parts that are sorted in shared memory. Order within a bucket
// doesn't matter, so that blocks take places in a part by counting up its cursor: nothing is counted beforehand and no block
// waits for another. Each part has a fixed room, an eighth more than its share of equally spread digits and eight standard
// deviations; digits that don't fit, since scalars are skewed, are noticed, and the window is sorted by CUB instead.
// The digits of the last window are the densest, 1.104 = 2^255 / r times the average (windows.h).
#pragma once

#include "msm/windows.h"

namespace czk {

constexpr uint32_t lg_split = 7, split_parts = 1u << lg_split, sort_parts = split_parts * split_parts;
constexpr uint32_t lg_last_max = 9; // bits that are sorted in shared memory

// Room of one of `parts` parts of `items` items, a multiple of 32.
CZK_INDEX uint64_t part_room(uint64_t items, uint32_t parts) {
    const uint64_t share = items / parts + 1;
    uint64_t deviation = 1;
    while (deviation * deviation < share) deviation *= 2;
    return (share + share / 8 + 8 * deviation + 31) / 32 * 32;
}

// A window of 2^lg_buckets buckets, for up to `items` digits.
struct split_shape_t {
    uint32_t lg_buckets;
    uint64_t first_room, last_room; // of a part after the first split, and after the second

    CZK_INDEX split_shape_t(uint32_t lg, uint64_t items)
        : lg_buckets(lg), first_room(part_room(items, split_parts)), last_room(part_room(items, sort_parts)) {}

    CZK_INDEX uint32_t lg_first() const { return lg_buckets - lg_split; }    // bits below the first split
    CZK_INDEX uint32_t lg_last() const { return lg_buckets - 2 * lg_split; } // and below the second
    CZK_INDEX uint64_t first_items() const { return split_parts * first_room; }
    CZK_INDEX uint64_t last_items() const { return sort_parts * last_room; }
};

// Whether windows of these sizes can be split: keys below the first split are kept in 16 bits.
CZK_INDEX bool can_split(uint32_t lg_buckets) {
    return lg_buckets > 2 * lg_split && lg_buckets <= 2 * lg_split + lg_last_max;
}

} // namespace czk
