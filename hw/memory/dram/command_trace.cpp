// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/command_trace.h"

#include <fmt/format.h>

namespace switchyard::hw::dram {

CommandTrace::CommandTrace(const std::string& path, const Geometry& geometry)
    : file_(path), banks_per_group_(geometry.banks_per_group) {
    file_.write("cycle,channel,pseudo_channel,command,bank_group,bank,row,column\n");
}

void CommandTrace::on_command(unsigned channel, const Command& c) {
    file_.write(fmt::format("{},{},{},{},{},{},{},{}\n", c.cycle, channel, c.pseudo_channel, name_of(c.kind),
                            c.bank / banks_per_group_, c.bank % banks_per_group_, c.row, c.column));
}

}  // namespace switchyard::hw::dram
