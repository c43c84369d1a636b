#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "switchyard/hw/memory/dram/command.h"

namespace switchyard::hw::dram {

/// Writes the commands as CSV: cycle,channel,pseudo_channel,command,bank_group,bank,row,column.
class CommandTrace : public CommandSink {
public:
    /// Throws InputError if the file cannot be written.
    CommandTrace(const std::string& path, const Geometry& geometry);
    void on_command(unsigned channel, const Command& command) override;

private:
    std::ofstream file_;
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
