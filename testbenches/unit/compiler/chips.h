// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"

namespace switchyard::sched {

/// 2x2 tiles of 8x8 PEs, 128 KiB each, one HBM stack with two interfaces: configs/platforms/mini.yaml.
inline HardwareDescription mini_chip() {
    HardwareDescription chip;
    chip.name = "mini";
    chip.columns = chip.rows = 2;
    chip.pe_rows = chip.pe_columns = 8;
    chip.scratchpad_bytes = 128 * 1024;
    chip.memory = {{0, 76.8}, {2, 76.8}};
    return chip;
}

/// 12x12 tiles of 32x32 PEs, 512 KiB each, 24 HBM interfaces at the ends of the rows (Adyna, Table III).
inline HardwareDescription large_chip() {
    HardwareDescription chip;
    chip.name = "large";
    chip.columns = chip.rows = 12;
    chip.pe_rows = chip.pe_columns = 32;
    chip.scratchpad_bytes = 512 * 1024;
    for (std::uint16_t y = 0; y < 12; ++y) {
        chip.memory.push_back({static_cast<std::uint16_t>(12 * y), 76.8});
        chip.memory.push_back({static_cast<std::uint16_t>(12 * y + 11), 76.8});
    }
    return chip;
}

}  // namespace switchyard::sched
