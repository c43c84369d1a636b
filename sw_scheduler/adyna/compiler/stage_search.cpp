// SPDX-License-Identifier: Apache-2.0
// StageSearch: which factors are the best on a number of tiles, and on how many tiles an operator fits.

#include <algorithm>
#include <cmath>
#include <limits>

#include "switchyard/sw_scheduler/adyna/compiler/splits.h"
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

/// The smallest number from `least` on for which something holds, as it then does for all larger ones; beyond `most` if
/// there is none. Looks near `least` first.
template <class Predicate>
unsigned fewest(unsigned least, unsigned most, Predicate&& holds) {
    if (least > most || !holds(most)) return most + 1;
    unsigned below = least - 1, number = least;
    for (unsigned step = 1; number < most && !holds(number); step *= 2) {
        below = number;
        number = std::min(number + step, most);
    }
    while (number - below > 1) {
        const unsigned middle = below + (number - below) / 2;
        (holds(middle) ? number : below) = middle;
    }
    return number;
}

}  // namespace

unsigned StageSearch::useful_factors(const StageQuery& query, unsigned tiles, unsigned k_factor) const {
    const std::uint32_t rows = workload_.graph.operators[query.op].shape.out_rows;
    const unsigned max_rows = std::min<unsigned>(rows, max_p_factor(query.op));
    return static_cast<unsigned>(
        std::min<std::uint64_t>(tiles / k_factor, std::uint64_t{query.unit_samples} * max_rows));
}

template <class Visit>
void StageSearch::for_each_cut(const StageQuery& query, unsigned factors, Visit&& visit) const {
    const std::uint32_t rows = workload_.graph.operators[query.op].shape.out_rows;
    for_each_split(query.unit_samples, rows, factors, max_p_factor(query.op), [&](std::uint32_t n, std::uint32_t p) {
        visit(Partition{narrow(query.unit_samples), narrow(n), narrow(p)});
    });
}

double StageSearch::cut_cycles(const ClassTimes& known, const StageQuery& query, unsigned k_factor,
                               const Partition& cut) {
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const auto found = known.usual.find(cut_key(k_factor, cut));
    if (found != known.usual.end()) return found->second.fits ? found->second.slowest() : kInfinite;
    if (!keeps_groups(workload_.graph.operators[query.op].shape, cut)) return kInfinite;
    const Footprint limit = footprint(query.op, k_factor, cut, fewest_slots(query.op, query.unit_samples));
    if (limit.total() > hardware_.data_bytes()) return kInfinite;
    const UsualTimes& times = usual_times(query.op, k_factor, cut, limit, query.slots.decided_switches);
    return times.fits ? times.slowest() : kInfinite;
}

const StageSearch::TimedCuts& StageSearch::quickest_splits(ClassTimes& known, const StageQuery& query,
                                                           unsigned k_factor, unsigned factors) {
    const auto [found, added] = known.splits.try_emplace(split_key(k_factor, factors));
    TimedCuts& quickest = found->second;
    if (!added || slice_bytes(query.op, k_factor) > hardware_.data_bytes()) return quickest;
    for_each_cut(query, factors, [&](const Partition& cut) {
        const double cycles = cut_cycles(known, query, k_factor, cut);
        if (cycles < quickest.cycles) {
            quickest.cuts.clear();
            quickest.cycles = cycles;
        }
        if (cycles == quickest.cycles && std::isfinite(cycles)) quickest.cuts.push_back(cut);
    });
    return quickest;
}

const StageSearch::Choice& StageSearch::best_split(Series& known, const StageQuery& query, unsigned k_factor,
                                                   unsigned factors) {
    constexpr double kReadsCount = 0.05;  // of factors that are about as quick, those that read less
    const auto [found, added] = known.splits.try_emplace(split_key(k_factor, factors));
    Choice& best = found->second;
    if (!added) return best;
    if (known.times != nullptr) {
        if (!weights_fit(query, k_factor)) return best;
        const std::uint64_t room = hardware_.data_bytes() / query.sharers;
        for_each_cut(query, factors, [&](const Partition& cut) {
            const double cycles = cut_cycles(*known.times, query, k_factor, cut);
            if (!std::isfinite(cycles) || cycles > best.cycles) return;
            const std::uint64_t needed = bytes(query, k_factor, cut);
            if (needed <= room) best.take({cut, cycles, needed});
        });
        return best;
    }
    for_each_cut(query, factors, [&](const Partition& cut) {
        const Stage candidate = spread(query, k_factor, cut);
        if (!candidate.fits) return;
        best.take({cut, candidate.cycles() + kReadsCount * candidate.memory_cycles,
                   candidate.footprint.total(query.weight_copies)});
    });
    return best;
}

template <class Visit>
void StageSearch::for_each_k_factor(const StageQuery& query, unsigned tiles, Visit&& visit) const {
    const OperatorShape& shape = workload_.graph.operators[query.op].shape;
    const unsigned max = max_k_factor(query.op);
    // Only the shares that leave another number of slices: the next one is just beyond the last with the same quotient.
    for (unsigned share = 1, previous = 0; share <= tiles; share = tiles / (tiles / share) + 1) {
        const unsigned k_factor = tight_factor(shape.out_channels, std::min<unsigned>(tiles / share, max));
        if (k_factor == previous) continue;  // fewer n and p factors with the same slices: never better
        previous = k_factor;
        visit(k_factor);
    }
}

const StageSearch::SlicedCuts& StageSearch::quickest_cuts(ClassTimes& known, const StageQuery& query, unsigned tiles) {
    const auto [found, added] = known.quickest.try_emplace(tiles);
    SlicedCuts& quickest = found->second;
    if (!added) return quickest;
    for_each_k_factor(query, tiles, [&](unsigned k_factor) {
        const TimedCuts& splits = quickest_splits(known, query, k_factor, useful_factors(query, tiles, k_factor));
        if (splits.cycles > quickest.cycles) return;
        if (splits.cycles < quickest.cycles) quickest.cuts.clear();
        quickest.cycles = splits.cycles;
        for (const Partition& cut : splits.cuts) quickest.cuts.push_back({k_factor, cut});
    });
    return quickest;
}

const Stage& StageSearch::search(Series& known, const StageQuery& query, unsigned tiles) {
    Choice best;
    unsigned slices = 0;
    if (known.times != nullptr) {  // where one of the quickest fits, none of the others is better
        const std::uint64_t room = hardware_.data_bytes() / query.sharers;
        const SlicedCuts& quickest = quickest_cuts(*known.times, query, tiles);
        for (const auto& [k_factor, cut] : quickest.cuts) {
            const std::uint64_t needed = bytes(query, k_factor, cut);
            if (needed <= room && best.take({cut, quickest.cycles, needed})) slices = k_factor;
        }
    }
    if (slices == 0) {
        for_each_k_factor(query, tiles, [&](unsigned k_factor) {
            if (best.take(best_split(known, query, k_factor, useful_factors(query, tiles, k_factor))))
                slices = k_factor;
        });
    }
    // A tile more or less mostly leaves the factors as they are.
    for (const unsigned near : {tiles - 1, tiles + 1}) {
        const Stage* const stage = near < known.by_tiles.size() ? known.by_tiles[near] : nullptr;
        const bool same = slices == 0 ? stage && !stage->fits
                                      : stage && stage->fits && stage->k_factor == slices && stage->largest == best.cut;
        if (same) return *stage;
    }
    known.stages.push_back(slices == 0 ? Stage() : spread(query, slices, best.cut));
    return known.stages.back();
}

bool StageSearch::fits(const Series& known, const StageQuery& query, unsigned tiles) {
    if (tiles < known.by_tiles.size() && known.by_tiles[tiles]) return known.by_tiles[tiles]->fits;
    bool found = false;
    for_each_k_factor(query, tiles, [&](unsigned k_factor) {
        if (found || !weights_fit(query, k_factor)) return;
        const unsigned factors = useful_factors(query, tiles, k_factor);
        if (const auto split = known.splits.find(split_key(k_factor, factors)); split != known.splits.end()) {
            found = std::isfinite(split->second.cycles);
            return;
        }
        for_each_cut(query, factors, [&](const Partition& cut) { found = found || spread(query, k_factor, cut).fits; });
    });
    return found;
}

bool StageSearch::weights_fit(const StageQuery& query, unsigned k_factor) const {
    return std::uint64_t{query.weight_copies} * slice_bytes(query.op, k_factor) <=
           hardware_.data_bytes() / query.sharers;
}

bool StageSearch::bytes_fit(const StageQuery& query, unsigned k_factor, const Partition& largest) const {
    return keeps_groups(workload_.graph.operators[query.op].shape, largest) &&
           bytes(query, k_factor, largest) <= hardware_.data_bytes() / query.sharers;
}

// What fits on T tiles fits on T + 1. Let k * n * p <= T be a cut that is visited for T (for_each_k_factor,
// for_each_split), and s = (T + 1) / k, rounded down as all quotients here: s >= n * p. For T + 1 the share s is
// visited, or one that leaves as many k factors, q = (T + 1) / s >= k. Its k factors are the fewest, k', whose slices
// are as small as those of q: no larger than those of k. Since k' <= q, (T + 1) / k' >= s >= n * p n and p factors are
// visited beside them, among them some whose blocks have as many samples as with n, and no more rows than with p. Where
// blocks shrink, no bytes are added, but for the heads of an attention; whether groups of samples are kept hangs on the
// samples alone.
unsigned StageSearch::search_tiles_bound(const StageQuery& query) const {
    // No fewer than with fewer copies and a larger part of the area, no more than with more copies and a smaller part.
    unsigned least = 1, most = hardware_.tiles();
    for (const TileBounds& known : tile_bounds_) {
        const unsigned tiles = known.by_class[static_cast<std::size_t>(class_of(query.op))];
        if (known.unit_samples != query.unit_samples || tiles == 0) continue;
        if (known.weight_copies <= query.weight_copies && known.sharers <= query.sharers)
            least = std::max(least, tiles);
        if (known.weight_copies >= query.weight_copies && known.sharers >= query.sharers) most = std::min(most, tiles);
    }
    if (least == most) return least;
    const auto fits = [&](unsigned tiles) {
        bool found = false;
        for_each_k_factor(query, tiles, [&](unsigned k_factor) {
            if (found || !weights_fit(query, k_factor)) return;
            for_each_cut(query, useful_factors(query, tiles, k_factor),
                         [&](const Partition& cut) { found = found || bytes_fit(query, k_factor, cut); });
        });
        return found;
    };
    return fewest(least, most, fits);
}

unsigned StageSearch::tiles_bound(int op, std::uint32_t unit_samples, unsigned weight_copies, unsigned sharers) {
    const auto same = [&](const TileBounds& known) {
        return known.unit_samples == unit_samples && known.weight_copies == weight_copies && known.sharers == sharers;
    };
    if (recent_bound_ >= tile_bounds_.size() || !same(tile_bounds_[recent_bound_])) {
        const auto found = std::find_if(tile_bounds_.begin(), tile_bounds_.end(), same);
        recent_bound_ = static_cast<std::size_t>(found - tile_bounds_.begin());
        if (found == tile_bounds_.end())
            tile_bounds_.push_back(
                {unit_samples, weight_copies, sharers, std::vector<unsigned>(workload_.items.size(), 0)});
    }
    unsigned& tiles = tile_bounds_[recent_bound_].by_class[static_cast<std::size_t>(class_of(op))];
    if (tiles > 0) return tiles;
    // Heads of an attention that a slice reaches into may be more with smaller slices: nothing to halve.
    const Operator& one = workload_.graph.operators[static_cast<std::size_t>(op)];
    if (one.shape.kind == OpKind::attention) return tiles = 1;
    const BufferSlots fewest = fewest_slots(op, unit_samples);
    return tiles = search_tiles_bound({op, unit_samples, fewest, weight_copies, sharers});
}

BufferSlots StageSearch::fewest_slots(int op, std::uint32_t unit_samples) const {
    BufferSlots slots;
    slots.out = narrow(std::min<std::uint32_t>(kFewestSlots, workload_.graph.samples_in_flight() / unit_samples));
    slots.in.assign(workload_.graph.operators[static_cast<std::size_t>(op)].inputs.size(), slots.out);
    return slots;
}

Footprint StageSearch::smallest_footprint(const StageQuery& query, unsigned tiles) const {
    const int op = query.op;
    const std::uint32_t unit_samples = query.unit_samples;
    const OperatorShape& shape = workload_.graph.operators[op].shape;
    Footprint smallest;
    for_each_split(shape.out_channels, unit_samples, tiles, 1, [&](std::uint32_t k_factor, std::uint32_t) {
        if (k_factor > max_k_factor(op)) return;
        for_each_cut(query, tiles / k_factor, [&](const Partition& largest) {
            if (!keeps_groups(shape, largest)) return;
            const Footprint bytes = footprint(query.op, k_factor, largest, query.slots);
            if (smallest.slot_bytes.empty() || bytes.total() < smallest.total()) smallest = bytes;
        });
    });
    return smallest;
}

std::size_t StageSearch::SeriesHash::operator()(const SeriesKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.of_class);
    const auto add = [&hash](std::uint64_t value) {
        hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;  // the golden ratio: every field reaches the upper bits
        hash ^= hash >> 32;
    };
    const auto& [unit_samples, out, decided, inputs, weight_units, weight_copies, sharers] = key.conditions;
    add(std::uint64_t{unit_samples} << 32 | std::uint64_t{out} << 16 | decided);
    add(inputs);
    add(std::uint64_t{weight_units} << 32 | std::uint64_t{weight_copies} << 24 | sharers);
    for (const std::uint16_t slots : key.in_slots) add(slots);
    return static_cast<std::size_t>(hash);
}

StageSearch::ClassTimes* StageSearch::times_of_cuts(const StageQuery& query) {
    const BufferSlots& slots = query.slots;
    const std::uint16_t fewest = fewest_slots(query.op, query.unit_samples).out;
    const bool few = slots.out < fewest ||
                     std::any_of(slots.in.begin(), slots.in.end(), [fewest](std::uint16_t in) { return in < fewest; });
    if (few || slots.reads.inputs != 0 || slots.reads.weight_units > 0) return nullptr;
    return &class_times(query.op, query.unit_samples, slots.decided_switches);
}

StageSearch::Series& StageSearch::series(const StageQuery& query) {
    const BufferSlots& slots = query.slots;
    const std::uint32_t mixed = query.unit_samples + (query.weight_copies << 17) + (query.sharers << 20);
    const std::size_t place = mixed * 0x9E3779B9u >> 29;  // multiplied by the golden ratio: of kRecent the upper bits
    Recent& recent = recent_[static_cast<std::size_t>(query.op) * kRecent + place];
    const auto rest = std::tie(query.unit_samples, slots.out, slots.decided_switches, slots.reads.inputs,
                               slots.reads.weight_units, query.weight_copies, query.sharers);
    if (recent.series == nullptr || recent.rest != rest || recent.in_slots != slots.in) {
        recent.rest = rest;
        recent.in_slots = slots.in;
        const SeriesKey key{class_of(query.op), recent.rest, recent.in_slots};
        const auto [known, added] = series_.try_emplace(key);
        recent.series = &known->second;
        if (added) recent.series->times = times_of_cuts(query);
    }
    return *recent.series;
}

const Stage& StageSearch::find_best(Series& known, const StageQuery& query, unsigned tiles) {
    if (known.by_tiles.size() <= tiles) known.by_tiles.resize(tiles + 1);
    const Stage* stage = nullptr;
    if (query.sharers > 1) {  // the best of all is the best of those that fit a part of the area, if it is one of them
        const Stage& alone = best({query.op, query.unit_samples, query.slots, query.weight_copies}, tiles);
        if (!alone.fits || alone.footprint.total(query.weight_copies) <= hardware_.data_bytes() / query.sharers)
            stage = &alone;
    }
    if (stage == nullptr) stage = &search(known, query, tiles);
    known.by_tiles[tiles] = stage;
    return *stage;
}

unsigned StageSearch::min_tiles(Series& known, const StageQuery& query) {
    if (known.min_tiles) return *known.min_tiles;
    const auto fits_on = [&](unsigned tiles) { return fits(known, query, tiles); };
    const bool bounded = known.times != nullptr;  // with fewer slots it may fit on fewer tiles
    const unsigned least = bounded ? tiles_bound(query.op, query.unit_samples, query.weight_copies, query.sharers) : 1;
    const unsigned tiles = fewest(least, hardware_.tiles(), fits_on);
    known.min_tiles = tiles > hardware_.tiles() ? 0 : tiles;
    return *known.min_tiles;
}

}  // namespace switchyard::sched
