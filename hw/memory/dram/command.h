// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/hw/memory/dram/device.h"

namespace switchyard::hw::dram {

enum class CommandKind : std::uint8_t {
    activate,
    read,
    write,
    read_precharge,   ///< with auto-precharge
    write_precharge,  ///< with auto-precharge
    precharge,
    precharge_all,  ///< all banks of a pseudo-channel
    refresh_all,    ///< all banks of a pseudo-channel
    refresh_bank
};

/// A read or a write, with auto-precharge or without.
inline bool is_column(CommandKind kind) {
    return kind == CommandKind::read || kind == CommandKind::write || kind == CommandKind::read_precharge ||
           kind == CommandKind::write_precharge;
}

/// "ACT", "RD", "WR", "RDA", "WRA", "PRE", "PREA", "REF", "REFB".
const char* name_of(CommandKind kind);

/// A command on the bus of a channel, at the first of its cycles.
struct Command {
    Cycle cycle = 0;
    CommandKind kind = CommandKind::activate;
    std::uint8_t pseudo_channel = 0;
    std::uint8_t bank = 0;  ///< of the pseudo-channel: bank group * banks_per_group + bank of the group
    std::uint32_t row = 0;
    std::uint32_t column = 0;
};

/// Sees every command of a channel, in order of time.
class CommandSink {
public:
    virtual ~CommandSink() = default;
    virtual void on_command(unsigned channel, const Command& command) = 0;
};

}  // namespace switchyard::hw::dram
