// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/timing_checker.h"

#include <algorithm>

#include <fmt/format.h>

namespace switchyard::hw::dram {

namespace {

constexpr std::uint64_t kPostponable = 8;  ///< refreshes, JESD79-4 and JESD235

}  // namespace

const std::vector<std::string>& TimingChecker::rules() {
    static const std::vector<std::string> kRules{
        "order",  "command bus", "bank state", "tRCD",   "tRP",    "tRAS", "tRC",  "tRRD_S", "tRRD_L", "tFAW", "tCCD_S",
        "tCCD_L", "data bus",    "tWR",        "tWTR_S", "tWTR_L", "tRTP", "tRFC", "tRFCpb", "tRREFD", "tREFI"};
    return kRules;
}

TimingChecker::TimingChecker(const Device& device, Handler handler) : device_(device), handler_(std::move(handler)) {
    const Geometry& g = device.geometry;
    channels_.resize(g.channels);
    for (Channel& channel : channels_) {
        channel.pseudo_channels.resize(g.pseudo_channels);
        for (PseudoChannel& p : channel.pseudo_channels) {
            p.banks.resize(g.banks());
            p.groups.resize(g.bank_groups);
        }
    }
}

void TimingChecker::demand(const char* rule, bool holds, const std::string& what) {
    if (holds) return;
    TimingViolation violation{
        rule, fmt::format("{}: channel {} pseudo-channel {} bank {}, {} at cycle {}: {}", rule, channel_,
                          command_.pseudo_channel, command_.bank, name_of(command_.kind), command_.cycle, what)};
    if (!handler_) throw TimingError(violation.message);
    handler_(violation);
}

void TimingChecker::at_least(const char* rule, const Last& since, Cycle distance) {
    if (!since.seen || command_.cycle >= since.cycle + distance) return;
    demand(rule, false,
           fmt::format("expected {} cycles or more since cycle {}, found {}", distance, since.cycle,
                       command_.cycle - since.cycle));
}

void TimingChecker::check_bus(Channel& channel) {
    const Timing& t = device_.timing;
    const bool column = is_column(command_.kind);
    Bus& bus = column && !t.shared_command_bus ? channel.column_bus : channel.row_bus;
    at_least("command bus", bus.end, 0);
    const unsigned cycles = column                                   ? t.column_bus_cycles
                            : command_.kind == CommandKind::activate ? t.activate_bus_cycles
                                                                     : t.precharge_bus_cycles;
    bus.end.set(command_.cycle + cycles);
}

void TimingChecker::check_activate(PseudoChannel& p) {
    const Timing& t = device_.timing;
    Bank& bank = p.banks[command_.bank];
    Group& group = p.groups[command_.bank / device_.geometry.banks_per_group];
    demand("bank state", !bank.open, "the bank is open");
    at_least("tRP", bank.precharge, t.trp_cycles);
    at_least("tRC", bank.activate, t.trc_cycles);
    at_least("tRRD_L", group.activate, t.trrd_l_cycles);
    at_least("tRRD_S", p.activate, t.trrd_s_cycles);
    at_least("tRFC", p.refresh, t.trfc_cycles);
    at_least("tRFCpb", bank.refresh, t.trfc_bank_cycles);
    at_least("tRREFD", p.refresh_bank, t.trrefd_cycles);
    p.activates.erase(std::remove_if(p.activates.begin(), p.activates.end(),
                                     [&](Cycle at) { return at + t.tfaw_cycles <= command_.cycle; }),
                      p.activates.end());
    demand("tFAW", p.activates.size() < 4, fmt::format("a fifth activate within {} cycles", t.tfaw_cycles));
    p.activates.push_back(command_.cycle);
    bank.open = true;
    bank.row = command_.row;
    for (Last* last : {&bank.activate, &group.activate, &p.activate}) last->set(command_.cycle);
}

void TimingChecker::check_data(PseudoChannel& p, bool write) {
    const Timing& t = device_.timing;
    const Cycle begin = command_.cycle + (write ? t.tcwl_cycles : t.tcl_cycles);
    const Cycle idle = write && !p.data_written ? t.turnaround_cycles : 0;
    if (p.data_end.seen)
        demand("data bus", begin >= p.data_end.cycle + idle,
               fmt::format("its data begin at cycle {}, the bus is free from {}", begin, p.data_end.cycle + idle));
    p.data_end.set(begin + t.burst_cycles);
    p.data_written = write;
}

void TimingChecker::check_column(PseudoChannel& p, bool write) {
    const Timing& t = device_.timing;
    Bank& bank = p.banks[command_.bank];
    Group& group = p.groups[command_.bank / device_.geometry.banks_per_group];
    demand("bank state", bank.open && bank.row == command_.row, "its row is not open");
    at_least("tRCD", bank.activate, write ? t.trcd_write_cycles : t.trcd_read_cycles);
    at_least("tCCD_L", write ? group.write : group.read, t.tccd_l_cycles);
    at_least("tCCD_S", write ? p.write : p.read, t.tccd_s_cycles);
    const Cycle data = t.tcwl_cycles + t.burst_cycles;
    if (!write) {
        at_least("tWTR_L", group.write, data + t.twtr_l_cycles);
        at_least("tWTR_S", p.write, data + t.twtr_s_cycles);
    }
    check_data(p, write);
    if (write) {
        for (Last* last : {&bank.write, &group.write, &p.write}) last->set(command_.cycle);
    } else {
        for (Last* last : {&bank.read, &group.read, &p.read}) last->set(command_.cycle);
    }
    if (command_.kind == CommandKind::read || command_.kind == CommandKind::write) return;
    Cycle at = command_.cycle + (write ? data + t.twr_cycles : t.trtp_cycles);
    if (bank.activate.seen) at = std::max(at, bank.activate.cycle + t.tras_cycles);
    close(bank, at);
}

void TimingChecker::close(Bank& bank, Cycle at) {
    bank.open = false;
    bank.precharge.set(at);
}

void TimingChecker::check_precharge(PseudoChannel&, Bank& bank) {
    if (!bank.open) return;
    const Timing& t = device_.timing;
    at_least("tRAS", bank.activate, t.tras_cycles);
    at_least("tRTP", bank.read, t.trtp_cycles);
    at_least("tWR", bank.write, t.tcwl_cycles + t.burst_cycles + t.twr_cycles);
    close(bank, command_.cycle);
}

void TimingChecker::check_refresh_rate(PseudoChannel& p) {
    const Timing& t = device_.timing;
    if (device_.policy.refresh == "all-bank") {
        demand("tREFI", p.refreshes + kPostponable + 1 > command_.cycle / t.trefi_cycles,
               fmt::format("{} refreshes so far", p.refreshes));
    } else if (device_.policy.refresh == "per-bank") {
        const Cycle round = Cycle{t.trefi_bank_cycles} * p.banks.size();
        for (const Bank& bank : p.banks)
            demand("tREFI", bank.refreshes + kPostponable + 1 > command_.cycle / round,
                   fmt::format("a bank has had {} refreshes so far", bank.refreshes));
    }
}

void TimingChecker::check_refresh_all(PseudoChannel& p) {
    const Timing& t = device_.timing;
    for (const Bank& bank : p.banks) {
        demand("bank state", !bank.open, "a bank is open");
        at_least("tRP", bank.precharge, t.trp_cycles);
        at_least("tRC", bank.activate, t.trc_cycles);
        at_least("tRFCpb", bank.refresh, t.trfc_bank_cycles);
    }
    at_least("tRP", p.precharge_all, t.trp_all_cycles);
    at_least("tRFC", p.refresh, t.trfc_cycles);
    p.refresh.set(command_.cycle);
    ++p.refreshes;
}

void TimingChecker::check_refresh_bank(PseudoChannel& p) {
    const Timing& t = device_.timing;
    Bank& bank = p.banks[command_.bank];
    demand("bank state", !bank.open, "the bank is open");
    at_least("tRP", bank.precharge, t.trp_cycles);
    at_least("tRC", bank.activate, t.trc_cycles);
    at_least("tRFC", p.refresh, t.trfc_cycles);
    at_least("tRFCpb", bank.refresh, t.trfc_bank_cycles);
    at_least("tRREFD", p.activate, t.trrefd_cycles);
    at_least("tRREFD", p.refresh_bank, t.trrefd_cycles);
    bank.refresh.set(command_.cycle);
    p.refresh_bank.set(command_.cycle);
    ++bank.refreshes;
}

void TimingChecker::on_command(unsigned channel_index, const Command& command) {
    ++commands_;
    channel_ = channel_index;
    command_ = command;
    Channel& channel = channels_.at(channel_index);
    PseudoChannel& p = channel.pseudo_channels.at(command.pseudo_channel);
    Bank& bank = p.banks.at(command.bank);
    demand("order", !channel.last.seen || command.cycle >= channel.last.cycle,
           fmt::format("the last command was at cycle {}", channel.last.cycle));
    channel.last.set(command.cycle);
    check_bus(channel);
    check_refresh_rate(p);
    switch (command.kind) {
        case CommandKind::activate:
            check_activate(p);
            break;
        case CommandKind::read:
        case CommandKind::read_precharge:
            check_column(p, false);
            break;
        case CommandKind::write:
        case CommandKind::write_precharge:
            check_column(p, true);
            break;
        case CommandKind::precharge:
            check_precharge(p, bank);
            break;
        case CommandKind::precharge_all:
            for (Bank& each : p.banks) check_precharge(p, each);
            p.precharge_all.set(command.cycle);
            break;
        case CommandKind::refresh_all:
            check_refresh_all(p);
            break;
        case CommandKind::refresh_bank:
            check_refresh_bank(p);
            break;
    }
}

}  // namespace switchyard::hw::dram
