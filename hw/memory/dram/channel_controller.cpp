// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/dram/channel_controller.h"

#include <algorithm>

namespace switchyard::hw::dram {

namespace {

constexpr unsigned kPrechargeFloor = 2 * kMaxBankGroups;
constexpr unsigned kRefreshRank = 0, kStarvedRank = 1, kColumnRank = 2, kRowRank = 3;

// Bits of a candidate's key: 26 of cycles, 2 of rank, 36 of order.
constexpr unsigned kRankShift = 36, kCycleShift = 38;
constexpr std::uint64_t kOrderMask = (std::uint64_t{1} << kRankShift) - 1;

constexpr std::uint64_t bit(unsigned bank) {
    return std::uint64_t{1} << bank;
}

}  // namespace

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
        for (auto& hits : p.hit) hits.fill(BurstQueue::kNone);
        const Cycle place = (index * geometry_.pseudo_channels + i) % all;
        if (policy_.refresh != "none") p.refresh_due = period + (policy_.staggered_refresh ? period * place / all : 0);
        next_refresh_ = std::min(next_refresh_, p.refresh_due);
    }
}

void ChannelController::push(const Location& location, bool write, Cycle arrival, std::uint32_t tag) {
    if (staged_begin_ == staged_.size()) {
        staged_.clear();
        staged_begin_ = 0;
    } else if (staged_begin_ >= 1024 && staged_begin_ * 2 > staged_.size()) {
        staged_.erase(staged_.begin(), staged_.begin() + static_cast<std::ptrdiff_t>(staged_begin_));
        staged_begin_ = 0;
    }
    const unsigned bank = location.bank_group * geometry_.banks_per_group + location.bank;
    staged_.push_back({arrival, location.row, location.column, tag, static_cast<std::uint8_t>(location.pseudo_channel),
                       static_cast<std::uint8_t>(bank), write});
    ++waiting_;
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

void ChannelController::admit() {
    while (staged_begin_ < staged_.size()) {
        const Staged& burst = staged_[staged_begin_];
        BurstQueue& target = queue(burst.write);
        if (burst.arrival > now_ || target.full(burst.pseudo_channel, burst.bank)) return;
        ++staged_begin_;
        if (!burst.write && forward(burst)) continue;
        BurstQueue::Entry entry;
        entry.admitted = now_;
        entry.order = admitted_++;
        entry.row = burst.row;
        entry.column = burst.column;
        entry.tag = burst.tag;
        entry.pseudo_channel = burst.pseudo_channel;
        entry.bank = burst.bank;
        const BurstQueue::Index index = target.add(entry);
        PseudoChannel& p = pseudo_channels_[burst.pseudo_channel];
        BurstQueue::Index& hit = p.hit[burst.write][burst.bank];
        if (hit == BurstQueue::kNone && (p.open & bit(burst.bank)) != 0 && p.row[burst.bank] == burst.row) hit = index;
        p.changed |= bit(burst.bank);
        selected_now_ = false;
        choose_direction(burst.pseudo_channel);
    }
}

void ChannelController::choose_direction(unsigned pseudo_channel) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    if (writes_.size() >= policy_.write_high_bursts) draining_ = true;
    if (writes_.size() <= policy_.write_low_bursts) draining_ = false;
    const bool reads = reads_.size(pseudo_channel) > 0, writes = writes_.size(pseudo_channel) > 0;
    bool write = writes && (!reads || draining_);
    bool rescue = false;
    const bool other_waits = p.writing ? reads : writes;
    const bool this_waits = p.writing ? writes : reads;
    if (other_waits && this_waits) {
        const bool enough = p.served >= policy_.write_high_bursts - policy_.write_low_bursts;
        const BurstQueue& other = queue(!p.writing);
        if (p.rescue && !enough) {
            write = p.writing;
        } else if (write == p.writing && enough &&
                   now_ > other[other.oldest(pseudo_channel)].admitted + policy_.starvation_limit_cycles) {
            write = !p.writing;
            rescue = true;
        }
    }
    if (write == p.writing) return;
    p.writing = write;
    p.rescue = rescue;
    p.served = 0;
    p.changed = ~std::uint64_t{0};
    ++stats_.turnarounds;
}

std::uint64_t ChannelController::key(Cycle cycle, unsigned rank, std::uint64_t order) const {
    return ((cycle - now_) << kCycleShift) | (std::uint64_t{rank} << kRankShift) | (order & kOrderMask);
}

void ChannelController::work_out(unsigned pseudo_channel, unsigned bank) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    const BurstQueue& waiting = queue(p.writing);
    Next& next = p.next[bank];
    next.entry = waiting.first(pseudo_channel, bank);
    next.starved_after = waiting[next.entry].admitted + policy_.starvation_limit_cycles;
    next.starved = now_ > next.starved_after;
    const BurstQueue::Index hit = p.hit[p.writing][bank];
    if ((p.open & bit(bank)) == 0) {
        next.kind = CommandKind::activate;
        next.cycle = p.timing.bank_activate(bank);
    } else if (hit != BurstQueue::kNone && (hit == next.entry || !next.starved)) {
        next.entry = hit;
        next.kind = p.writing ? CommandKind::write : CommandKind::read;
        next.cycle = p.writing ? p.timing.bank_write(bank) : p.timing.bank_read(bank);
    } else {
        next.kind = CommandKind::precharge;
        next.cycle = p.timing.bank_precharge(bank);
    }
    const unsigned group = p.timing.group_of(bank);
    next.floor = static_cast<std::uint8_t>(next.kind == CommandKind::activate    ? group
                                           : next.kind == CommandKind::precharge ? kPrechargeFloor
                                                                                 : kMaxBankGroups + group);
    next.order = waiting[next.entry].order;
    p.changed &= ~bit(bank);
}

void ChannelController::consider_banks(unsigned pseudo_channel, std::uint64_t banks, Candidate& best) {
    PseudoChannel& p = pseudo_channels_[pseudo_channel];
    // What group and pseudo-channel demand: a row of groups for activates, one for column accesses, one number for
    // precharges. The loop over the banks then has hardly a branch: what comes next is hard to predict.
    std::array<Cycle, 2 * kMaxBankGroups + 1> floors;
    const Cycle activate = std::max({p.timing.activate(), row_bus_, now_});
    const Cycle column = std::max({p.writing ? p.timing.write() : p.timing.read(), column_bus_, now_});
    for (unsigned group = 0; group < geometry_.bank_groups; ++group) {
        floors[group] = std::max(activate, p.timing.group_activate(group));
        floors[kMaxBankGroups + group] =
            std::max(column, p.writing ? p.timing.group_write(group) : p.timing.group_read(group));
    }
    floors[kPrechargeFloor] = std::max(row_bus_, now_);
    std::uint64_t min = best.key;
    unsigned min_bank = kMaxBanks;
    for (; banks != 0; banks &= banks - 1) {
        const auto bank = static_cast<unsigned>(__builtin_ctzll(banks));
        const Next& next = p.next[bank];
        if ((p.changed & bit(bank)) != 0 || now_ > next.starved_after) work_out(pseudo_channel, bank);
        const bool is_column = next.floor - kMaxBankGroups < kMaxBankGroups;
        const unsigned rank = next.starved ? kStarvedRank : is_column ? kColumnRank : kRowRank;
        const std::uint64_t here = key(std::max(next.cycle, floors[next.floor]), rank, next.order);
        min_bank = here < min ? bank : min_bank;
        min = std::min(min, here);
    }
    if (min_bank == kMaxBanks) return;
    const Next& next = p.next[min_bank];
    best = {std::max(next.cycle, floors[next.floor]), min,       next.kind, static_cast<std::uint8_t>(pseudo_channel),
            static_cast<std::uint8_t>(min_bank),      next.entry};
}

void ChannelController::consider_refresh(unsigned pseudo_channel, Candidate& best) const {
    const PseudoChannel& p = pseudo_channels_[pseudo_channel];
    Candidate c;
    c.pseudo_channel = static_cast<std::uint8_t>(pseudo_channel);
    if (per_bank_refresh_) {
        c.bank = static_cast<std::uint8_t>(p.refresh_bank);
        const bool open = (p.open & bit(p.refresh_bank)) != 0;
        c.kind = open ? CommandKind::precharge : CommandKind::refresh_bank;
        c.cycle = open ? p.timing.bank_precharge(p.refresh_bank) : p.timing.refresh_bank_at(p.refresh_bank);
    } else if (p.open != 0) {
        c.kind = CommandKind::precharge_all;
        c.cycle = 0;
        for (std::uint64_t banks = p.open; banks != 0; banks &= banks - 1)
            c.cycle = std::max(c.cycle, p.timing.bank_precharge(static_cast<unsigned>(__builtin_ctzll(banks))));
    } else {
        c.kind = CommandKind::refresh_all;
        c.cycle = p.timing.refresh_all_at();
    }
    c.cycle = std::max({c.cycle, row_bus_, now_});
    c.key = key(c.cycle, kRefreshRank, 0);
    if (c.key < best.key) best = c;
}

ChannelController::Candidate ChannelController::select() {
    Candidate best;
    for (unsigned i = 0; i < pseudo_channels_.size(); ++i) {
        const PseudoChannel& p = pseudo_channels_[i];
        std::uint64_t banks = queue(p.writing).banks(i);
        if (p.refreshing) {
            consider_refresh(i, best);
            if (!per_bank_refresh_) continue;
            banks &= ~bit(p.refresh_bank);
        }
        consider_banks(i, banks, best);
    }
    return best;
}

void ChannelController::begin_refreshes() {
    next_refresh_ = kNever;
    for (PseudoChannel& p : pseudo_channels_) {
        if (p.refresh_due <= now_) p.refreshing = true;
        if (!p.refreshing) next_refresh_ = std::min(next_refresh_, p.refresh_due);
    }
}

void ChannelController::advance(Cycle until) {
    while (true) {
        admit();
        if (!selected_now_) selected_ = select();
        selected_now_ = true;
        Cycle arrival = kNever;
        if (staged_begin_ < staged_.size()) {
            const Staged& first = staged_[staged_begin_];
            if (!queue(first.write).full(first.pseudo_channel, first.bank)) arrival = first.arrival;
        }
        const Cycle event = std::max(now_, std::min({selected_.cycle, arrival, next_refresh_}));
        if (event >= until) return;
        now_ = event;
        if (arrival <= event) continue;
        if (next_refresh_ <= event) {
            begin_refreshes();
        } else {
            issue(selected_);
        }
        selected_now_ = false;
    }
}

void ChannelController::issue(const Candidate& c) {
    PseudoChannel& p = pseudo_channels_[c.pseudo_channel];
    if (c.kind == CommandKind::refresh_all || c.kind == CommandKind::precharge_all)
        p.changed = ~std::uint64_t{0};
    else
        p.changed |= bit(c.bank);
    const bool column = c.kind == CommandKind::read || c.kind == CommandKind::write;
    if (column)
        issue_column(c, p);
    else
        issue_row(c, p);
    const unsigned bus_cycles = column                            ? timing_.column_bus_cycles
                                : c.kind == CommandKind::activate ? timing_.activate_bus_cycles
                                                                  : timing_.precharge_bus_cycles;
    if (timing_.shared_command_bus)
        row_bus_ = column_bus_ = c.cycle + bus_cycles;
    else
        (column ? column_bus_ : row_bus_) = c.cycle + bus_cycles;
}

void ChannelController::issue_column(const Candidate& c, PseudoChannel& p) {
    const bool write = c.kind == CommandKind::write;
    BurstQueue& from = queue(write);
    const BurstQueue::Entry& entry = from[c.entry];
    Command command{c.cycle, c.kind, c.pseudo_channel, c.bank, entry.row, entry.column};
    const Cycle end = c.cycle + (write ? timing_.write_data_cycles() : timing_.tcl_cycles + timing_.burst_cycles);
    done_.push_back({end, entry.tag});
    stats_.last_data = std::max(stats_.last_data, end);
    stats_.data_cycles += timing_.burst_cycles;
    stats_.row_hits += entry.activated ? 0 : 1;
    ++(write ? stats_.writes : stats_.reads);
    --waiting_;
    if (write)
        p.timing.write(c.bank, c.cycle);
    else
        p.timing.read(c.bank, c.cycle);
    p.hit[write][c.bank] = from.find_row(entry.next, entry.row);
    from.remove(c.entry);
    const bool last = p.hit[0][c.bank] == BurstQueue::kNone && p.hit[1][c.bank] == BurstQueue::kNone;
    if (closed_page_ && last) {
        command.kind = write ? CommandKind::write_precharge : CommandKind::read_precharge;
        p.timing.auto_precharge(c.bank);
        close(p, c.bank);
    }
    ++p.served;
    choose_direction(c.pseudo_channel);
    if (sink_) sink_->on_command(index_, command);
}

void ChannelController::close(PseudoChannel& p, unsigned bank) {
    p.open &= ~bit(bank);
    p.hit[0][bank] = p.hit[1][bank] = BurstQueue::kNone;
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
    switch (c.kind) {
        case CommandKind::activate: {
            BurstQueue::Entry& entry = queue(p.writing)[c.entry];
            entry.activated = true;
            command.row = p.row[c.bank] = entry.row;
            p.open |= bit(c.bank);
            for (const bool write : {false, true})
                p.hit[write][c.bank] = queue(write).find_row(queue(write).first(c.pseudo_channel, c.bank), entry.row);
            p.timing.activate(c.bank, c.cycle);
            ++stats_.activates;
            break;
        }
        case CommandKind::precharge:
            p.timing.precharge(c.bank, c.cycle);
            close(p, c.bank);
            break;
        case CommandKind::precharge_all:
            for (std::uint64_t banks = p.open; banks != 0; banks &= banks - 1) {
                const auto bank = static_cast<unsigned>(__builtin_ctzll(banks));
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
