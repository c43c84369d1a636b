// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/channel_controller.h"

#include <algorithm>

#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {

const char* name_of(CommandKind kind) {
    static constexpr const char* kNames[] = {"ACT", "RD", "WR", "RDA", "WRA", "PRE", "PREA", "REF", "REFB"};
    return kNames[static_cast<unsigned>(kind)];
}

void ChannelStats::add(const ChannelStats& other) {
    reads += other.reads;
    writes += other.writes;
    row_hits += other.row_hits;
    forwarded += other.forwarded;
    activates += other.activates;
    precharges += other.precharges;
    refreshes += other.refreshes;
    turnarounds += other.turnarounds;
    data_cycles += other.data_cycles;
    refresh_cycles += other.refresh_cycles;
    last_data = std::max(last_data, other.last_data);
}

ChannelController::ChannelController(const Device& device, unsigned index, CommandSink* sink)
    : geometry_(device.geometry),
      timing_(device.timing),
      policy_(device.policy),
      closed_page_(device.policy.page == "closed"),
      per_bank_refresh_(device.policy.refresh == "per-bank"),
      index_(index),
      sink_(sink),
      reads_(device.read_entries(), device.policy.read_queue_bursts),
      writes_(device.write_entries(), device.policy.write_queue_bursts),
      pseudo_channels_(device.geometry.pseudo_channels, PseudoChannel(device)) {
    const Cycle period = per_bank_refresh_ ? timing_.trefi_bank_cycles : timing_.trefi_cycles;
    const unsigned all = geometry_.pseudo_channels_in_all();
    for (unsigned i = 0; i < pseudo_channels_.size(); ++i) {
        PseudoChannel& p = pseudo_channels_[i];
        p.index = p.best.pseudo_channel = static_cast<std::uint8_t>(i);
        const Cycle place = (index * geometry_.pseudo_channels + i) % all;
        if (policy_.refresh != "none") p.refresh_due = period + (policy_.staggered_refresh ? period * place / all : 0);
        next_refresh_ = std::min(next_refresh_, p.refresh_due);
    }
}

ChannelStats ChannelController::stats() const {
    ChannelStats stats = stats_;
    stats.data_cycles = (stats.reads + stats.writes) * timing_.burst_cycles;
    return stats;
}

void ChannelController::forget_admitted() {
    if (staged_begin_ == staged_.size()) {
        staged_.clear();
        staged_begin_ = 0;
    } else if (staged_begin_ >= 1024 && staged_begin_ * 2 > staged_.size()) {
        staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(staged_begin_));
        staged_begin_ = 0;
    }
}

bool ChannelController::forward(const Staged& burst) {
    BurstQueue::Index index = writes_.first(burst.pseudo_channel, burst.bank);
    while ((index = writes_.find_row(index, burst.row)) != BurstQueue::kNone) {
        if (writes_[index].column == burst.column) break;
        index = writes_[index].next;
    }
    if (index == BurstQueue::kNone) return false;
    done_.push_back({now_ + timing_.tcl_cycles + timing_.burst_cycles, burst.tag});
    ++stats_.forwarded;
    --waiting_;
    return true;
}

Cycle ChannelController::admit() {
    for (; staged_begin_ < staged_.size(); ++staged_begin_) {
        const Staged& burst = staged_[staged_begin_];
        BurstQueue& target = queue(burst.write);
        if (target.full(burst.pseudo_channel, burst.bank)) return kNever;
        if (burst.arrival > now_) return burst.arrival;
        if (!burst.write && writes_.size() > 0 && forward(burst)) continue;
        PseudoChannel& p = pseudo_channels_[burst.pseudo_channel];
        const bool first = target.first(burst.pseudo_channel, burst.bank) == BurstQueue::kNone;
        const BurstQueue::Index index = target.add(burst.pseudo_channel, burst.bank, burst.row, admitted_++);
        BurstQueue::Entry& entry = target[index];
        entry.admitted = now_;
        entry.column = burst.column;
        entry.tag = burst.tag;
        entry.activated = false;
        Bank& bank = p.bank[burst.bank];
        BurstQueue::Index& hit = bank.hit[burst.write];
        const bool first_hit = hit == BurstQueue::kNone && (p.open & bit(burst.bank)) != 0 && bank.row == burst.row;
        if (first_hit) hit = index;
        if (first || first_hit) {
            p.changed |= bit(burst.bank);
            p.best_known = false;
        }
        selected_ = nullptr;
        choose_direction(p);
    }
    return kNever;
}

void ChannelController::weigh_directions(PseudoChannel& p) {
    if (writes_.size() >= policy_.write_high_bursts) draining_ = true;
    if (writes_.size() <= policy_.write_low_bursts) draining_ = false;
    const bool reads = reads_.banks(p.index) != 0, writes = writes_.banks(p.index) != 0;
    bool write = writes && (!reads || draining_);
    bool rescue = false;
    const bool other_waits = p.writing ? reads : writes;
    const bool this_waits = p.writing ? writes : reads;
    if (other_waits && this_waits) {
        const bool enough = p.served >= policy_.write_high_bursts - policy_.write_low_bursts;
        if (p.rescue && !enough) {
            write = p.writing;
        } else if (write == p.writing && enough && starves(p, !p.writing)) {
            write = !p.writing;
            rescue = true;
        }
    }
    if (write == p.writing) return;
    p.writing = write;
    p.rescue = rescue;
    p.served = 0;
    p.changed = ~std::uint64_t{0};
    p.best_known = false;
    ++stats_.turnarounds;
}

void ChannelController::begin_refreshes() {
    next_refresh_ = kNever;
    for (PseudoChannel& p : pseudo_channels_) {
        if (p.refresh_due <= now_) {
            p.refreshing = true;
            p.best_known = false;
        }
        if (!p.refreshing) next_refresh_ = std::min(next_refresh_, p.refresh_due);
    }
}

void ChannelController::advance(Cycle until) {
    forget_admitted();
    while (true) {
        const Cycle arrival = admit();
        if (selected_ == nullptr) selected_ = select();
        const Candidate& command = selected_->best;
        const Cycle event = std::max(now_, std::min({command.cycle, arrival, next_refresh_}));
        if (event >= until) return;
        now_ = event;
        if (arrival <= event) continue;
        if (next_refresh_ <= event) {
            begin_refreshes();
        } else {
            issue(command);
        }
        selected_ = nullptr;
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
    BurstQueue& from = queue(write);
    const BurstQueue::Entry& entry = from[c.entry];
    const std::uint32_t row = entry.row;
    const Cycle end = c.cycle + (write ? timing_.write_data_cycles() : timing_.tcl_cycles + timing_.burst_cycles);
    Done& done = done_.emplace_back();
    done.cycle = end;
    done.tag = entry.tag;
    stats_.last_data = std::max(stats_.last_data, end);
    stats_.row_hits += entry.activated ? 0 : 1;
    ++(write ? stats_.writes : stats_.reads);
    --waiting_;
    if (write)
        p.timing.write(c.bank, c.cycle);
    else
        p.timing.read(c.bank, c.cycle);
    occupy(column_bus_, c.cycle + timing_.column_bus_cycles);
    std::array<BurstQueue::Index, 2>& hits = p.bank[c.bank].hit;
    const BurstQueue::Index hit = hits[write] = from.find_row(entry.next, row);
    const bool closes = closed_page_ && hit == BurstQueue::kNone && hits[!write] == BurstQueue::kNone;
    if (sink_) {
        const CommandKind kind = !closes ? c.kind : write ? CommandKind::write_precharge : CommandKind::read_precharge;
        sink_->on_command(index_, {c.cycle, kind, c.pseudo_channel, c.bank, row, entry.column});
    }
    from.remove(c.entry);
    if (hit != BurstQueue::kNone)
        take_next_hit(p, c.bank, hit);
    else
        p.changed |= bit(c.bank);
    if (closes) {
        p.timing.auto_precharge(c.bank);
        close(p, c.bank);
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
            stats_.refresh_cycles += timing_.trfc_bank_cycles / geometry_.banks();
            p.refresh_bank = (p.refresh_bank + 1) % geometry_.banks();
            refreshed(p, timing_.trefi_bank_cycles);
            break;
        default:
            p.timing.refresh_all(c.cycle);
            stats_.refresh_cycles += timing_.trfc_cycles;
            refreshed(p, timing_.trefi_cycles);
            break;
    }
    if (sink_) sink_->on_command(index_, command);
}

}  // namespace switchyard::hw::dram
