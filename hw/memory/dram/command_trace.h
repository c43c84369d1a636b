// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/hw/memory/dram/command.h"
#include "switchyard/sw_scheduler/base/files.h"

namespace switchyard::hw::dram {

/// Writes the commands as CSV: cycle,channel,pseudo_channel,command,bank_group,bank,row,column.
class CommandTrace : public CommandSink {
public:
    /// Throws InputError if the file cannot be written.
    CommandTrace(const std::string& path, const Geometry& geometry);
    void on_command(unsigned channel, const Command& command) override;
    /// The file is whole. Throws InputError, as the constructor does; without it there is no file.
    void finish() { file_.commit(); }

private:
    OutputFile file_;
    unsigned banks_per_group_;
};

/// Passes each command on to several.
class CommandFanout : public CommandSink {
public:
    void add(CommandSink& sink) { sinks_.push_back(&sink); }
    bool empty() const { return sinks_.empty(); }
    void on_command(unsigned channel, const Command& command) override {
        for (CommandSink* sink : sinks_) sink->on_command(channel, command);
    }

private:
    std::vector<CommandSink*> sinks_;
};

}  // namespace switchyard::hw::dram
