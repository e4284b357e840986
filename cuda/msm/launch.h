// How kernels are fitted to a card. Plain arithmetic, for host and device.
#pragma once

#include "msm/windows.h"

namespace czk {

struct device_shape_t {
    uint32_t multiprocessors;
    uint32_t shared_bytes;       // of a multiprocessor
    uint32_t shared_block_bytes; // most that one block may ask for
};

// What every supported card allows a block: sm_86, 89 and 120 no more.
constexpr uint32_t shared_block_least = 99 * 1024;
// The system keeps this of each block's.
constexpr uint32_t shared_of_system = 1024;

// Blocks with `bytes` of shared memory that a multiprocessor holds at once, `most` at most; 0 if it can't have even one.
CZK_INDEX uint32_t blocks_at_once(const device_shape_t &device, uint32_t bytes, uint32_t most) {
    if (bytes > device.shared_block_bytes) return 0;
    const uint32_t room = device.shared_bytes / (bytes + shared_of_system);
    return room < most ? room : most;
}

struct pair_launch_t {
    uint32_t blocks, rounds;
};

// The launch of `tiles` tiles of pairs when `resident` blocks run at once: as many rounds a block as fill the device twice
// over, since blocks that are out of step hide each other's inversions; once if that left few rounds to share one; more
// often if there were more than rounds_max, so that no block holds up a question for long.
CZK_INDEX pair_launch_t pair_launch(uint64_t tiles, uint64_t resident, uint32_t rounds_max) {
    uint64_t waves = tiles < 128 * resident ? 1 : 2;
    while (tiles > waves * resident * rounds_max) waves++;
    const uint64_t rounds = (tiles + waves * resident - 1) / (waves * resident);
    return {uint32_t((tiles + rounds - 1) / rounds), uint32_t(rounds)};
}

} // namespace czk
