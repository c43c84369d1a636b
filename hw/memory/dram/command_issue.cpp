// SPDX-License-Identifier: Apache-2.0
// What a command changes: the queues, the banks' times and their next commands.

#include <algorithm>

#include "switchyard/hw/memory/dram/channel_controller.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {

void ChannelController::take_next_hit(PseudoChannel& p, unsigned bank, BurstQueue::Index hit, std::uint64_t order) {
    p.next.entry[bank] = hit;
    p.next.priority[bank] = priority_of(Rank::column, order, bank);
}

void ChannelController::delay_group(PseudoChannel& p, unsigned bank, std::uint64_t banks, Cycle cycle) {
    for (banks &= p.timing.group_of(bank); banks != 0;) {
        Cycle& of_bank = p.next.cycle[take_first(banks)];
        of_bank = std::max(of_bank, cycle);
    }
}

void ChannelController::issue(const Candidate& c) {
    PseudoChannel& p = pseudo_channels_[c.pseudo_channel];
    p.best_known = false;
    if (is_column(c.kind))
        issue_column(c, p);
    else
        issue_row(c, p);
}

void ChannelController::issue_column(const Candidate& c, PseudoChannel& p) {
    const bool write = c.kind == CommandKind::write;
    const unsigned bank = c.bank;
    const Cycle cycle = c.cycle;
    BurstQueue& from = queue(write);
    const BurstQueue::Entry& entry = from[c.entry];
    const std::uint32_t row = entry.row;
    const Cycle end = cycle + (write ? timing_.write_data_cycles() : timing_.tcl_cycles + timing_.burst_cycles);
    // In place: the copy of a Done that has just been written would wait until its fields are stored.
    Done& done = done_.emplace_back();
    done.cycle = end;
    done.tag = entry.tag;
    last_data_[write] = end;
    stats_.row_hits += entry.activated ? 0 : 1;
    ++(write ? stats_.writes : stats_.reads);
    if (write)
        p.timing.write(bank, cycle);
    else
        p.timing.read(bank, cycle);
    delay_group(p, bank, p.next.columns & p.waiting[write], p.timing.group_column(bank, write));
    occupy(column_bus_, cycle + timing_.column_bus_cycles);
    std::array<BurstQueue::Index, 2>& hits = p.bank[bank].hit;
    const BurstQueue::Index hit = hits[write] = from.find_row(entry.next, row);
    const bool closes = closed_page_ && hit == BurstQueue::kNone && hits[!write] == BurstQueue::kNone;
    if (sink_) {
        const CommandKind kind = !closes ? c.kind : write ? CommandKind::write_precharge : CommandKind::read_precharge;
        sink_->on_command(index_, {cycle, kind, p.index, c.bank, row, entry.column});
    }
    from.remove(p.index, bank, c.entry);
    if (hit != BurstQueue::kNone) {
        take_next_hit(p, bank, hit, from[hit].order);
    } else {
        p.changed |= bit(bank);
        if (from.first(p.index, bank) == BurstQueue::kNone) p.waiting[write] &= ~bit(bank);
    }
    if (closes) {
        p.timing.auto_precharge(bank);
        close(p, bank);
    }
    ++p.served;
    choose_direction(p);
}

void ChannelController::occupy(Cycle& bus, Cycle until) {
    bus = until;
    if (timing_.shared_command_bus) row_bus_ = column_bus_ = until;
}

void ChannelController::close(PseudoChannel& p, unsigned bank) {
    p.open &= ~bit(bank);
    p.bank[bank].hit[0] = p.bank[bank].hit[1] = BurstQueue::kNone;
    ++stats_.precharges;
}

void ChannelController::refreshed(PseudoChannel& p, Cycle period) {
    ++stats_.refreshes;
    p.refreshing = false;
    p.refresh_due += period;
    next_refresh_ = std::min(next_refresh_, p.refresh_due);
}

void ChannelController::issue_row(const Candidate& c, PseudoChannel& p) {
    Command command{c.cycle, c.kind, c.pseudo_channel, c.bank, 0, 0};
    occupy(row_bus_,
           c.cycle + (c.kind == CommandKind::activate ? timing_.activate_bus_cycles : timing_.precharge_bus_cycles));
    p.changed |=
        c.kind == CommandKind::refresh_all || c.kind == CommandKind::precharge_all ? ~std::uint64_t{0} : bit(c.bank);
    switch (c.kind) {
        case CommandKind::activate: {
            queue(p.writing)[c.entry].activated = true;
            command.row = p.bank[c.bank].row = queue(p.writing)[c.entry].row;
            p.open |= bit(c.bank);
            for (const bool write : {false, true})
                p.bank[c.bank].hit[write] =
                    queue(write).find_row(queue(write).first(c.pseudo_channel, c.bank), command.row);
            p.timing.activate(c.bank, c.cycle);
            delay_group(p, c.bank, p.waiting[p.writing] & ~p.open, p.timing.group_activate(c.bank));
            ++stats_.activates;
            break;
        }
        case CommandKind::precharge:
            p.timing.precharge(c.bank, c.cycle);
            close(p, c.bank);
            break;
        case CommandKind::precharge_all:
            for (std::uint64_t banks = p.open; banks != 0;) {
                const unsigned bank = take_first(banks);
                p.timing.precharge(bank, c.cycle);
                close(p, bank);
            }
            p.timing.precharge_all(c.cycle);
            break;
        case CommandKind::refresh_bank:
            p.timing.refresh_bank(c.bank, c.cycle);
            stats_.refresh_bank_cycles += timing_.trfc_bank_cycles;
            p.refresh_bank = (p.refresh_bank + 1) % geometry_.banks();
            refreshed(p, timing_.trefi_bank_cycles);
            break;
        default:
            p.timing.refresh_all(c.cycle);
            stats_.refresh_bank_cycles += std::uint64_t{timing_.trfc_cycles} * geometry_.banks();
            refreshed(p, timing_.trefi_cycles);
            break;
    }
    if (sink_) sink_->on_command(index_, command);
}

}  // namespace switchyard::hw::dram
