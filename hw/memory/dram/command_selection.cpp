// SPDX-License-Identifier: Apache-2.0
// Which command goes next. Each bank's next command is kept until something changes it, and each pseudo-channel's best
// one until something but time and the command buses has changed.

#include <algorithm>
#include <array>

#include "switchyard/hw/memory/dram/channel_controller.h"
#include "switchyard/sw_scheduler/base/bit_sets.h"

namespace switchyard::hw::dram {
namespace {

constexpr unsigned kRefreshRank = 0, kStarvedRank = 1, kColumnRank = 2, kRowRank = 3;

// Bits of a priority: 2 of rank, 36 of order. Above them, 26 of cycles from now on make one number of it and the time.
constexpr unsigned kRankShift = 36, kCycleShift = 38;
constexpr std::uint64_t kOrderMask = (std::uint64_t{1} << kRankShift) - 1;

constexpr std::size_t index_of(CommandKind kind) {
    return static_cast<std::size_t>(kind);
}
constexpr std::size_t kCommandKinds = index_of(CommandKind::refresh_bank) + 1;

std::uint64_t priority_of(unsigned rank, std::uint64_t order) {
    return std::uint64_t{rank} << kRankShift | (order & kOrderMask);
}

}  // namespace

bool ChannelController::oldest_starves(PseudoChannel& p, bool write) {
    Cycle& after = p.starved_after[write];
    const BurstQueue& waiting = queue(write);
    const BurstQueue::Index oldest = waiting.oldest(p.index);
    after = (oldest == BurstQueue::kNone ? now_ : waiting[oldest].admitted) + policy_.starvation_limit_cycles;
    return now_ > after;
}

bool ChannelController::bank_starves(const PseudoChannel& p, unsigned bank) const {
    const BurstQueue& waiting = queue(p.writing);
    return now_ > waiting[waiting.first(p.index, bank)].admitted + policy_.starvation_limit_cycles;
}

void ChannelController::work_out(PseudoChannel& p, unsigned bank, bool starved) {
    const BurstQueue& waiting = queue(p.writing);
    Next& next = p.bank[bank].next;
    next.entry = waiting.first(p.index, bank);
    const BurstQueue::Index hit = p.bank[bank].hit[p.writing];
    unsigned rank = kRowRank;
    if ((p.open & bit(bank)) == 0) {
        next.kind = CommandKind::activate;
        next.cycle = p.timing.bank_activate(bank);
        next.group = p.timing.group_activate(bank);
    } else if (hit != BurstQueue::kNone && (hit == next.entry || !starved)) {
        next.entry = hit;
        next.kind = p.writing ? CommandKind::write : CommandKind::read;
        next.cycle = p.timing.bank_column(bank, p.writing);
        next.group = p.timing.group_column(bank, p.writing);
        rank = kColumnRank;
    } else {
        next.kind = CommandKind::precharge;
        next.cycle = p.timing.bank_precharge(bank);
        next.group = BankTiming::kNoGroup;
    }
    next.priority = priority_of(starved ? kStarvedRank : rank, waiting[next.entry].order);
}

void ChannelController::take_next_hit(PseudoChannel& p, unsigned bank, BurstQueue::Index hit) {
    Next& next = p.bank[bank].next;
    next.entry = hit;
    next.priority = priority_of(kColumnRank, queue(p.writing)[hit].order);
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
    // The loop over the banks has hardly a branch: what comes next is hard to predict.
    const Cycle row = std::max(row_bus_, now_);
    std::array<Cycle, kCommandKinds> earliest;  ///< for the pseudo-channel and the buses
    earliest[index_of(CommandKind::activate)] = std::max(p.timing.activate(), row);
    earliest[index_of(CommandKind::precharge)] = row;
    earliest[index_of(p.writing ? CommandKind::write : CommandKind::read)] =
        std::max({p.timing.column(p.writing), column_bus_, now_});
    const auto when = [&](const Next& next) {
        return std::max({next.cycle, p.timing.group(next.group), earliest[index_of(next.kind)]});
    };
    const auto key = [this](Cycle cycle, std::uint64_t priority) { return (cycle - now_) << kCycleShift | priority; };
    std::uint64_t min = p.best.cycle == kNever ? ~std::uint64_t{0} : key(p.best.cycle, p.best.priority);
    unsigned min_bank = kMaxBanks;
    while (banks != 0) {
        const unsigned bank = take_first(banks);
        const Next& next = p.bank[bank].next;
        const std::uint64_t here = key(when(next), next.priority);
        min_bank = here < min ? bank : min_bank;
        min = std::min(min, here);
    }
    if (min_bank == kMaxBanks) return;
    const Next& next = p.bank[min_bank].next;
    p.best.take(when(next), next, min_bank);
}

ChannelController::Candidate ChannelController::next_refresh(const PseudoChannel& p) const {
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
    c.priority = priority_of(kRefreshRank, 0);
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
    std::uint64_t banks = queue(p.writing).banks(p.index);
    if ((p.changed & banks) != 0 || starves(p, p.writing)) work_out_changed(p, banks);
    if (p.refreshing) {
        p.best = next_refresh(p);
        if (!per_bank_refresh_) return;
        banks &= ~bit(p.refresh_bank);
    }
    consider(p, banks);
}

ChannelController::PseudoChannel* ChannelController::select() {
    PseudoChannel* first = nullptr;
    for (PseudoChannel& p : pseudo_channels_) {
        if (!best_holds(p)) find_best(p);
        if (first == nullptr || p.best.goes_before(first->best)) first = &p;
    }
    return first;
}

}  // namespace switchyard::hw::dram
