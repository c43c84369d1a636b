// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/segment_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/adyna/compiler/kernel_search.h"
#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::sched {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Of one sample on one tile, whose parts take as long together: StageSearch::estimated_cycles() without what a pass
/// costs besides, and with passes over the array's rows that are as full as its columns of outputs allow.
double min_compute(const HardwareDescription& hardware, const TileWork& work) {
    const double outputs = static_cast<double>(work.outputs());
    const double read_width = hardware.scratchpad_bytes_per_cycle;
    const double written = work.element_bytes * outputs / hardware.scratchpad_write_bytes_per_cycle;
    if (work.vector_op) {
        const double elements = outputs * work.reduction;
        return std::max({elements / hardware.pes(), work.operand_bytes * elements / read_width, written});
    }
    const std::uint32_t columns = work.size[kQ], channels = work.size[kK];
    double passes = kInfinite;  // over the array's rows, of an output row
    for (unsigned rows = 1; rows <= hardware.pe_rows; ++rows) {
        const double here = ceil_div(columns, hardware.pe_rows / rows);
        passes = std::min(passes, here / rows);
    }
    const double row_passes = passes * work.size[kP], row_outputs = double{1} * work.size[kP] * columns;
    const double column_passes = ceil_div(channels, hardware.pe_columns);
    const double fed = work.reduction * row_passes * (work.channelwise ? double{1} * channels : column_passes);
    const double inputs = work.channelwise ? outputs : row_outputs * column_passes;
    const double read = kElementBytes * work.reduction * (inputs + row_passes * channels) / read_width;
    return std::max({fed, row_outputs * column_passes, read, written});
}

/// Of one sample, whatever rows a tile has: where windows leave rows out, single rows need the fewest.
double min_input_bytes(const OperatorShape& shape, const Source& source) {
    const auto bytes = [&](std::uint16_t parts) {
        const TileWork work = tile_work(shape, 1, {1, 1, parts}, 1);
        return double{1} * shape.out_rows / work.size[kP] * static_cast<double>(input_bytes(shape, source, work));
    };
    return std::min(bytes(1), bytes(shape.out_rows));
}

}  // namespace

Segmenter::Bounds::Bounds(Segmenter& segmenter)
    : segmenter_(segmenter), workload_(segmenter.search_.workload()), outer_gate_(workload_.items.size()) {
    look_up_works();
    look_up_units();
    look_up_stores();
    look_up_positions();
    ways_.resize(units_.size());
    expected_steps_.resize(segmenter_.unit_sizes_.size());
}

void Segmenter::Bounds::look_up_works() {
    const DynGraph& graph = workload_.graph;
    const HardwareDescription& hardware = segmenter_.search_.hardware();
    for (std::size_t op = 0; op < workload_.items.size(); ++op) {
        const Operator& one = graph.operators[op];
        const Workload::Item& item = workload_.items[op];
        outer_gate_[op] = one.path.empty() ? static_cast<int>(workload_.items.size())
                                           : graph.switches[static_cast<std::size_t>(one.path[0].switch_id)].gate;
        const TileWork work = tile_work(one.shape, item.operands, {1, 1, 1}, 1);
        double in = 0, out = item.is_output ? static_cast<double>(work.output_bytes()) : 0;
        std::vector<double>& operands = operand_bytes_.emplace_back();
        for (unsigned i = 0; i < one.inputs.size(); ++i) {
            const double bytes = min_input_bytes(one.shape, one.inputs[i]);
            in += bytes;
            operands.push_back(bytes * graph.samples_in_flight() * workload_.edge_share({static_cast<int>(op), i}));
        }
        for (const Workload::Use& use : item.uses) {
            const Source& source = graph.operators[static_cast<std::size_t>(use.consumer)].inputs[use.source];
            const double area =
                source.reduce == EdgeReduce::global_pool ? 1.0 : double{1} * work.size[kP] * source.shape.columns;
            const double share = item.expected_share > 0 ? workload_.edge_share(use) / item.expected_share : 0;
            out += source.shape.element_bytes * double{1} * work.size[kK] / source.groups * area * share;
        }
        Work& least = works_.emplace_back();
        if (segmenter_.search_.by_batch()) continue;  // the kernel of a batch may leave tiles idle
        least.compute = min_compute(hardware, work);
        least.in = in / hardware.link_bytes_per_cycle;
        least.out = out / hardware.link_bytes_per_cycle;
    }
}

void Segmenter::Bounds::look_up_units() {
    const DynGraph& graph = workload_.graph;
    std::map<std::pair<int, unsigned>, double> shares;  // by branch: of the operator that the fewest samples reach
    for (std::size_t op = 0; op < workload_.items.size(); ++op) {
        const BranchPath& path = graph.operators[op].path;
        if (path.empty()) continue;
        double& share = shares.emplace(std::pair(path.back().switch_id, path.back().branch), 1.0).first->second;
        share = std::min(share, workload_.items[op].expected_share);
    }
    for (std::size_t op = 0; op < workload_.items.size(); ++op) {
        const BranchPath& path = graph.operators[op].path;
        for (const std::uint32_t size : segmenter_.unit_sizes_) {
            Unit& unit = units_.emplace_back();
            unit.expected = workload_.items[op].expected_share * size;
            const std::array<double, 2> usual = workload_.usual_samples(static_cast<int>(op), size, 0);
            unit.usual = (usual[0] + usual[1]) / 2;
            if (segmenter_.grouping_ && !path.empty()) {  // as shared_tile_groups()
                const BranchStep& branch = path.back();
                unit.own_tiles = !graph.switches[static_cast<std::size_t>(branch.switch_id)].exclusive &&
                                 shares[{branch.switch_id, branch.branch}] * size >= 1;
                unit.rarest = shares[{branch.switch_id, branch.branch}] * size;
            }
            for (unsigned copies = 1; copies <= 2; ++copies)
                unit.tiles[copies - 1] = segmenter_.search_.tiles_bound(static_cast<int>(op), size, copies, 1);
        }
    }
}

void Segmenter::Bounds::look_up_stores() {
    const int count = static_cast<int>(workload_.items.size());
    stores_.resize(static_cast<std::size_t>(count) + 1);
    for (int op = count; op-- > 0;) {
        int farthest = workload_.items[static_cast<std::size_t>(op)].is_output ? count : op;
        for (const Workload::Use& use : workload_.items[static_cast<std::size_t>(op)].uses)
            farthest = std::max(farthest, use.consumer);
        for (int last = op + 1; last <= farthest; ++last) {
            if (segmenter_.may_cut(last))
                stores_[static_cast<std::size_t>(last)].emplace_back(op, segmenter_.stored_bytes(last, op));
        }
    }
}

void Segmenter::Bounds::look_up_positions() {
    const DynGraph& graph = workload_.graph;
    std::map<std::pair<int, unsigned>, std::size_t> branches;
    std::vector<std::size_t> lengths;  // by branch
    std::map<int, std::size_t> most;   // by switch: of its branches
    for (const Operator& one : graph.operators) {
        Position& position = positions_.emplace_back();
        if (one.path.empty()) continue;
        const BranchStep& step = one.path.back();
        position.branch = branches.emplace(std::pair(step.switch_id, step.branch), branches.size()).first->second;
        lengths.resize(branches.size());
        std::size_t& longest = most[step.switch_id];
        longest = std::max(longest, ++lengths[position.branch]);
    }
    std::map<int, std::size_t> first_places;
    std::size_t places = 0;
    for (const auto& [switch_id, count] : most) {
        first_places[switch_id] = places;
        places += count;
    }
    for (std::size_t op = 0; op < positions_.size(); ++op) {
        const BranchPath& path = graph.operators[op].path;
        if (!path.empty()) positions_[op].first_place = first_places[path.back().switch_id];
    }
    on_branches_.resize(branches.size());
    at_places_.resize(places);
}

void Segmenter::Bounds::begin(int first) {
    first_ = last_ = first;
    weights_ = operands_ = 0;
    const std::size_t sizes = segmenter_.unit_sizes_.size();
    first_size_ = 0;
    last_size_ = sizes;
    fill_.assign(sizes, 0);
    own_.resize(sizes);
    together_.resize(sizes);
    for (std::vector<Share>& shares : own_) shares.clear();
    for (std::vector<Together>& places : together_) places.clear();
    places_ = 0;
    ++segments_;
}

void Segmenter::Bounds::begin(int first, std::size_t size) {
    begin(first);
    first_size_ = size;
    last_size_ = size + 1;
}

Segmenter::Bounds::Share Segmenter::Bounds::Together::share() const {
    // Groups are closed once their branches expect a sample together.
    const double largest = std::floor(1 / std::max(rarest, 1e-9)) + 1;
    const unsigned groups = in_turn ? 1 : static_cast<unsigned>(std::ceil(operators / largest));
    Share result{0, 0, work, most};
    for (std::size_t copies = 0; copies < 2; ++copies) result.tiles[copies] += (groups - 1) * fewest[copies];
    return result;
}

std::size_t Segmenter::Bounds::place_behind_switch(int op) {
    const Position& position = positions_[static_cast<std::size_t>(op)];
    InSegment& before = on_branches_[position.branch];
    if (before.segment != segments_) before = {segments_, 0};
    InSegment& place = at_places_[position.first_place + before.number++];
    if (place.segment != segments_) {
        place = {segments_, places_++};
        for (std::vector<Together>& places : together_) places.emplace_back();
    }
    return place.number;
}

void Segmenter::Bounds::add() {
    const int op = last_++;
    const Operator& one = workload_.graph.operators[static_cast<std::size_t>(op)];
    const Work& work = works_[static_cast<std::size_t>(op)];
    const double transfer = segmenter_.transfer_cycles();
    weights_ += static_cast<double>(one.weight_bytes);
    double loading = 0;
    for (std::size_t s = 0; s < one.inputs.size(); ++s) {
        if (one.inputs[s].producer >= first_) continue;
        operands_ += operand_bytes_[static_cast<std::size_t>(op)][s];
        loading = std::max(loading, segmenter_.load_latency(one.inputs[s], false));
    }
    const bool decided = outer_gate_[static_cast<std::size_t>(op)] < first_;
    const std::size_t place = one.path.empty() ? 0 : place_behind_switch(op);
    for (std::size_t size = first_size_; size < last_size_; ++size) {
        const Unit& of = unit(op, size);
        const double samples = of.own_tiles && !decided ? of.usual : of.expected;
        if (of.own_tiles) {
            own_[size].push_back({op, samples, samples * work.slowest(), of.tiles});
        } else {
            Together& together = together_[size][place];
            const bool first = together.operators++ == 0;
            together.work += samples * work.compute;
            together.rarest = std::min(first ? of.rarest : together.rarest, of.rarest);
            together.in_turn = workload_.graph.switches[static_cast<std::size_t>(one.path.back().switch_id)].exclusive;
            for (std::size_t copies = 0; copies < 2; ++copies) {
                together.most[copies] = std::max(together.most[copies], of.tiles[copies]);
                together.fewest[copies] =
                    first ? of.tiles[copies] : std::min(together.fewest[copies], of.tiles[copies]);
            }
        }
        Way longest{0, loading};
        const auto behind = [&](int from, double latency) {
            const Way& before = way(from, size);
            if (before.root > longest.root ||
                (before.root == longest.root && before.latency + latency > longest.latency))
                longest = {before.root, before.latency + latency};
        };
        for (const Source& source : one.inputs) {
            if (source.producer < first_) continue;
            behind(source.producer, transfer);
            if (segmenter_.switched_inside(source, first_, last_))
                behind(workload_.graph.switches[static_cast<std::size_t>(source.switch_id)].gate, 2 * transfer);
        }
        longest.root += std::sqrt(samples * work.compute);
        way(op, size) = longest;
        fill_[size] = std::max(fill_[size], longest.root * longest.root / segmenter_.tiles_ + longest.latency);
    }
}

double Segmenter::Bounds::interval(std::size_t size, unsigned weight_copies) const {
    const std::size_t copies = weight_copies - 1;
    shares_.assign(own_[size].begin(), own_[size].end());
    for (const Together& together : together_[size])
        if (together.operators > 0) shares_.push_back(together.share());
    unsigned fewest = 0;
    double work = 0;
    for (const Share& share : shares_) {
        fewest += share.tiles[copies];
        work += share.work;
    }
    if (fewest > segmenter_.tiles_) return kInfinite;
    // Those that would have fewer tiles than they need take what they need; the others share the rest.
    double result = work / segmenter_.tiles_;
    for (;;) {
        double left = 0, tiles = segmenter_.tiles_;
        for (const Share& share : shares_) {
            const double needs = share.tiles[copies];
            if (share.work < needs * result) {
                tiles -= needs;
            } else {
                left += share.work;
            }
        }
        if (left <= 0 || tiles <= 0 || left <= result * tiles * (1 + 1e-12)) return result;
        result = left / tiles;
    }
}

unsigned Segmenter::Bounds::fewest_copies(int first, int last) const {
    const bool whole_network = first == 0 && last == static_cast<int>(workload_.items.size());
    return segmenter_.weights_ == Weights::resident && !whole_network ? 2 : 1;
}

bool Segmenter::Bounds::may_fit() const {
    for (std::size_t size = 0; size < segmenter_.unit_sizes_.size(); ++size)
        if (interval(size, 1) < kInfinite) return true;
    return false;
}

double Segmenter::Bounds::cycles(const Segment& segment, std::size_t size, unsigned weight_copies,
                                 double shortest_interval) const {
    constexpr double kRounding = 1 - 1e-9;  // of sums in another order
    const double bandwidth = segmenter_.search_.hardware().memory_bytes_per_cycle();
    const std::uint32_t units = workload_.graph.samples_in_flight() / segmenter_.unit_sizes_[size];
    double tensors = segment.operands;
    for (const auto& [op, bytes] : stores_[static_cast<std::size_t>(segment.last)]) {
        if (op < segment.first) break;
        tensors += bytes;
    }
    const double weights = segmenter_.loads_weights(segment.first, segment.last) ? segment.weights / bandwidth : 0;
    const bool beside = weight_copies > 1;  // they are loaded while another segment runs
    const double memory = tensors / bandwidth + (beside ? weights : 0);
    const double pipeline = segment.sizes[size].fill + (units - 1) * std::max(shortest_interval, memory / units);
    return kRounding * (std::max(pipeline, memory) + (beside ? 0 : weights) + segmenter_.barrier_cycles());
}

double Segmenter::Bounds::Segment::cycles() const {
    double least = kInfinite;
    for (const Size& size : sizes) least = std::min({least, size.cycles[0], size.cycles[1]});
    return least;
}

Segmenter::Bounds::Segment Segmenter::Bounds::segment() const {
    Segment result{first_, last_, weights_, operands_, {}};
    result.sizes.reserve(fill_.size());
    for (const double fill : fill_) result.sizes.push_back({fill, {kInfinite, kInfinite}});
    for (std::size_t size = 0; size < fill_.size(); ++size) {
        for (unsigned copies = fewest_copies(first_, last_); copies <= 2; ++copies) {
            const double least = interval(size, copies);
            if (least < kInfinite) result.sizes[size].cycles[copies - 1] = cycles(result, size, copies, least);
        }
    }
    return result;
}

Segmenter::Bounds::Segment Segmenter::Bounds::segment(int first, int last) {
    begin(first);
    while (last_ < last) add();
    return segment();
}

}  // namespace switchyard::sched
