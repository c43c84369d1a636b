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
    refresh_bank_cycles += other.refresh_bank_cycles;
    last_data = std::max(last_data, other.last_data);
}

ChannelController::ChannelController(const Device& device, const AddressMapping& mapping, unsigned index,
                                     CommandSink* sink)
    : geometry_(device.geometry),
      timing_(device.timing),
      policy_(device.policy),
      closed_page_(device.policy.page == "closed"),
      per_bank_refresh_(device.policy.refresh == "per-bank"),
      index_(index),
      sink_(sink),
      reads_(device.read_entries(), device.policy.read_queue_bursts),
      writes_(device.write_entries(), device.policy.write_queue_bursts),
      pseudo_channels_(device.geometry.pseudo_channels, PseudoChannel(device)),
      walk_(mapping),
      channel_bits_(mapping.channel_bits()) {
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
    stats.last_data = std::max(last_data_[0], last_data_[1]);
    stats.data_cycles = (stats.reads + stats.writes) * timing_.burst_cycles;
    return stats;
}

bool ChannelController::forward() {
    const Place place = first_staged_;
    BurstQueue::Index index = writes_.first(place.pseudo_channel(), place.bank());
    while ((index = writes_.find_row(index, place.row())) != BurstQueue::kNone) {
        if (writes_[index].column == place.column()) break;
        index = writes_[index].next;
    }
    if (index == BurstQueue::kNone) return false;
    done_.push_back({now_ + timing_.tcl_cycles + timing_.burst_cycles, staged_.front().tag});
    ++stats_.forwarded;
    return true;
}

inline Cycle ChannelController::admit() {
    for (; !staged_.empty(); next_staged()) {
        const Staged& request = staged_.front();
        const Place place = first_staged_;
        BurstQueue& target = queue(request.write);
        if (target.full(place.pseudo_channel(), place.bank())) return kNever;
        if (request.arrival > now_) return request.arrival;
        if (!request.write && writes_.size() > 0 && forward()) continue;
        PseudoChannel& p = pseudo_channels_[place.pseudo_channel()];
        const bool first = target.first(place.pseudo_channel(), place.bank()) == BurstQueue::kNone;
        const BurstQueue::Index index = target.add(place.pseudo_channel(), place.bank(), place.row(), admitted_++);
        BurstQueue::Entry& entry = target[index];
        entry.admitted = now_;
        entry.column = place.column();
        entry.tag = request.tag;
        entry.activated = false;
        Bank& bank = p.bank[place.bank()];
        BurstQueue::Index& hit = bank.hit[request.write];
        const bool first_hit = hit == BurstQueue::kNone && (p.open & bit(place.bank())) != 0 && bank.row == place.row();
        if (first_hit) hit = index;
        if (first || first_hit) {
            p.waiting[request.write] |= bit(place.bank());
            p.changed |= bit(place.bank());
            p.best_known = false;
        }
        selected_ = nullptr;
        choose_direction(p);
    }
    return kNever;
}

void ChannelController::weigh_directions(PseudoChannel& p) {
    const bool reads = p.waiting[0] != 0, writes = p.waiting[1] != 0;
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

// Selection. Each bank's next command is kept until something changes it, and each pseudo-channel's best one until
// something but time and the command buses has changed.

bool ChannelController::oldest_starves(PseudoChannel& p, bool write) {
    Cycle& after = p.starved_after[write];
    const BurstQueue& waiting = queue(write);
    const BurstQueue::Index oldest = waiting.oldest(p.index, p.waiting[write]);
    after = (oldest == BurstQueue::kNone ? now_ : waiting[oldest].admitted) + policy_.starvation_limit_cycles;
    return now_ > after;
}

bool ChannelController::bank_starves(const PseudoChannel& p, unsigned bank) const {
    const BurstQueue& waiting = queue(p.writing);
    return now_ > waiting[waiting.first(p.index, bank)].admitted + policy_.starvation_limit_cycles;
}

void ChannelController::work_out(PseudoChannel& p, unsigned bank, bool starved) {
    const BurstQueue& waiting = queue(p.writing);
    BurstQueue::Index entry = waiting.first(p.index, bank);
    const BurstQueue::Index hit = p.bank[bank].hit[p.writing];
    Cycle cycle;
    Rank rank = Rank::row;
    p.next.columns &= ~bit(bank);
    if ((p.open & bit(bank)) == 0) {
        cycle = std::max(p.timing.bank_activate(bank), p.timing.group_activate(bank));
    } else if (hit != BurstQueue::kNone && (hit == entry || !starved)) {
        entry = hit;
        cycle = std::max(p.timing.bank_column(bank, p.writing), p.timing.group_column(bank, p.writing));
        rank = Rank::column;
        p.next.columns |= bit(bank);
    } else {
        cycle = p.timing.bank_precharge(bank);
    }
    p.next.cycle[bank] = cycle;
    p.next.priority[bank] = priority_of(starved ? Rank::starved : rank, waiting[entry].order, bank);
    p.next.entry[bank] = entry;
}

void ChannelController::work_out_changed(PseudoChannel& p, std::uint64_t waiting) {
    std::uint64_t starving = 0;
    if (starves(p, p.writing)) {
        for (std::uint64_t rest = waiting; rest != 0;) {
            const unsigned bank = take_first(rest);
            if (bank_starves(p, bank)) starving |= bit(bank);
        }
    }
    for (std::uint64_t changed = (p.changed & waiting) | starving; changed != 0;) {
        const unsigned bank = take_first(changed);
        work_out(p, bank, (starving >> bank & 1) != 0);
    }
    p.changed = 0;  // banks for which nothing waits change when something comes
}

inline void ChannelController::consider(PseudoChannel& p, std::uint64_t banks) {
    if (banks == 0) return;
    std::uint64_t min =
        p.best.cycle == kNever ? ~std::uint64_t{0} : (p.best.cycle - now_) << kPriorityBits | p.best.priority;
    bool found = false;
    CommandKind min_kind = CommandKind::activate;
    // Commands of one kind, which the pseudo-channel and the bus take from `from` on.
    const auto consider_kind = [&](std::uint64_t of_kind, CommandKind kind, Cycle from) {
        if (of_kind == 0) return;
        // The loop over the banks has no other branch: what comes next is hard to predict. Vectors are slower: a load
        // of several banks' times waits until the command before has stored the time of one of them.
        std::uint64_t least = ~std::uint64_t{0};
        while (of_kind != 0) {
            const unsigned bank = take_first(of_kind);
            const Cycle cycle = p.next.cycle[bank];
            const std::uint64_t key = ((std::max(cycle, from) - from) << kPriorityBits) + p.next.priority[bank];
            least = std::min(least, key);
        }
        least += (from - now_) << kPriorityBits;
        if (least >= min) return;
        min = least;
        found = true;
        min_kind = kind;
    };
    const Cycle row = std::max(row_bus_, now_);
    const std::uint64_t columns = banks & p.next.columns, rows = banks & ~columns;
    consider_kind(columns, p.writing ? CommandKind::write : CommandKind::read,
                  std::max({p.timing.column(p.writing), column_bus_, now_}));
    if (rows != 0) {
        consider_kind(rows & ~p.open, CommandKind::activate, std::max(p.timing.activate(), row));
        consider_kind(rows & p.open, CommandKind::precharge, row);
    }
    if (!found) return;
    const std::uint8_t bank = bank_of(min);
    p.best.cycle = now_ + (min >> kPriorityBits);
    p.best.priority = min & low_bits(kPriorityBits);
    p.best.entry = p.next.entry[bank];
    p.best.kind = min_kind;
    p.best.bank = bank;
}

Candidate ChannelController::next_refresh(const PseudoChannel& p) const {
    Candidate c;
    c.pseudo_channel = p.index;
    if (per_bank_refresh_) {
        c.bank = static_cast<std::uint8_t>(p.refresh_bank);
        const bool open = (p.open & bit(p.refresh_bank)) != 0;
        c.kind = open ? CommandKind::precharge : CommandKind::refresh_bank;
        c.cycle = open ? p.timing.bank_precharge(p.refresh_bank) : p.timing.refresh_bank_at(p.refresh_bank);
    } else if (p.open != 0) {
        c.kind = CommandKind::precharge_all;
        c.cycle = 0;
        for (std::uint64_t banks = p.open; banks != 0;)
            c.cycle = std::max(c.cycle, p.timing.bank_precharge(take_first(banks)));
    } else {
        c.kind = CommandKind::refresh_all;
        c.cycle = p.timing.refresh_all_at();
    }
    c.cycle = std::max({c.cycle, row_bus_, now_});
    c.priority = priority_of(Rank::refresh, 0, 0);
    return c;
}

inline bool ChannelController::best_holds(PseudoChannel& p) {
    // What was later than the best cannot overtake it, as long as the best itself is not delayed.
    return p.best_known && p.best.cycle >= std::max(now_, is_column(p.best.kind) ? column_bus_ : row_bus_) &&
           !starves(p, p.writing);
}

inline void ChannelController::find_best(PseudoChannel& p) {
    p.best.cycle = kNever;
    p.best.priority = ~std::uint64_t{0};
    p.best_known = !p.refreshing;
    std::uint64_t banks = p.waiting[p.writing];
    if ((p.changed & banks) != 0 || starves(p, p.writing)) work_out_changed(p, banks);
    if (p.refreshing) {
        p.best = next_refresh(p);
        if (!per_bank_refresh_) return;
        banks &= ~bit(p.refresh_bank);
    }
    consider(p, banks);
}

inline ChannelController::PseudoChannel* ChannelController::select() {
    for (PseudoChannel& p : pseudo_channels_)
        if (!best_holds(p)) find_best(p);
    const auto goes_before = [](const PseudoChannel& a, const PseudoChannel& b) { return a.best.goes_before(b.best); };
    return &*std::min_element(pseudo_channels_.begin(), pseudo_channels_.end(), goes_before);
}

void ChannelController::advance(Cycle until) {
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

}  // namespace switchyard::hw::dram
