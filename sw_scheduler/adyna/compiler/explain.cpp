// SPDX-License-Identifier: Apache-2.0
// The text of `sy-sched inspect`.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

namespace switchyard::sched {

namespace {

using Text = std::back_insert_iterator<std::string>;

/// "0-3,7": runs of consecutive numbers.
std::string ranges(const std::vector<std::uint16_t>& numbers) {
    const std::set<std::uint16_t> sorted(numbers.begin(), numbers.end());
    std::string text;
    for (auto it = sorted.begin(); it != sorted.end();) {
        const unsigned first = *it;
        unsigned last = first;
        while (++it != sorted.end() && *it == last + 1) last = *it;
        text += fmt::format("{}{}{}", text.empty() ? "" : ",", first, last == first ? "" : fmt::format("-{}", last));
    }
    return text;
}

const char* path_name(EdgePath path) {
    switch (path) {
        case EdgePath::on_chip:
            return "on chip";
        case EdgePath::memory:
            return "memory";
        case EdgePath::mask:
            return "mask";
        case EdgePath::weights:
            return "weights";
        case EdgePath::labels:
            return "labels";
    }
    return "";
}

std::string kernel_text(const Kernel& kernel) {
    const Blocking blocking = blocking_of(kernel);
    const auto four = [](const std::array<std::uint16_t, 4>& b) {
        return fmt::format("n{} k{} p{} q{}", b[kN], b[kK], b[kP], b[kQ]);
    };
    std::array<std::uint16_t, 4> trips{};
    for (unsigned i = 0; i < 4; ++i) trips[i] = kernel.loop(Level::spm, kBlockedDims[i]).block;
    return fmt::format("{:<22} | {:<22} | {}", four(blocking.reg), four(blocking.pe), four(trips));
}

struct Collected {
    std::map<std::uint16_t, const OperatorPlacement*> placements;
    std::map<std::uint16_t, const TileOperator*> operators;  ///< of rank 0
    std::map<std::uint16_t, const TileProgram*> programs;    ///< of rank 0
    std::map<std::uint16_t, const Edge*> edges;
};

Collected collect(const Image& image) {
    Collected all;
    for (const TileProgram& program : image.tiles) {
        for (const OperatorPlacement& placement : program.placements)
            all.placements.emplace(placement.op_id, &placement);
        for (const Edge& edge : program.edges) all.edges.emplace(edge.id, &edge);
        for (const TileOperator& op : program.operators) {
            if (op.rank != 0) continue;
            all.operators.emplace(op.op_id, &op);
            all.programs.emplace(op.op_id, &program);
        }
    }
    return all;
}

/// Whose tiles it uses too, and how many of them in each allocation.
void explain_sharing(Text& out, const Image& image, const Collected& all, const OperatorPlacement& placement) {
    const std::set<std::uint16_t> own(placement.tiles.begin(), placement.tiles.end());
    std::string others;
    for (const auto& [id, other] : all.placements) {
        if (id == placement.op_id || other->segment != placement.segment) continue;
        const auto common = std::count_if(other->tiles.begin(), other->tiles.end(),
                                          [&own](std::uint16_t tile) { return own.count(tile) > 0; });
        if (common == 0) continue;
        others += fmt::format("{}{} tiles with {}", others.empty() ? "" : ", ", common, image.meta.operators[id].name);
    }
    std::string counts;
    for (unsigned k = 0; k < placement.allocations.size(); ++k) {
        std::uint32_t max = 0;
        const bool used = !placement.allocations[k].own.empty();  // otherwise by units without samples only
        for (std::size_t i = placement.first_partition(k); used && i < placement.last_partition(k); ++i)
            max = std::max(max,
                           std::uint32_t{placement.partitions[i].n} * placement.partitions[i].p * placement.k_factor);
        counts += fmt::format("{}{}", k == 0 ? "" : k + 1 == placement.allocations.size() ? " or " : ", ", max);
    }
    fmt::format_to(out, "    shares {}; uses {}\n", others, counts);
}

void explain_operator(Text& out, const Image& image, const Collected& all, const OperatorPlacement& placement) {
    const ImageMeta::Operator& meta = image.meta.operators[placement.op_id];
    const TileOperator& op = *all.operators.at(placement.op_id);
    fmt::format_to(out, "  {} {} ({}{}): {} tiles {}, k factors {}\n", placement.op_id, meta.name, meta.kind,
                   meta.dynamic ? ", in " + meta.switch_name : "", placement.tiles.size(), ranges(placement.tiles),
                   placement.k_factor);
    std::string sharers;
    for (const auto& [id, other] : all.placements) {
        if (id == placement.op_id || other->segment != placement.segment || other->tiles != placement.tiles) continue;
        sharers += fmt::format("{}{}", sharers.empty() ? "" : ", ", image.meta.operators[id].name);
    }
    if (!sharers.empty()) fmt::format_to(out, "    one after another with {}\n", sharers);
    if (!placement.allocations.empty()) explain_sharing(out, image, all, placement);
    fmt::format_to(out, "    dyn_dim    n    p   reg                    | pe                     | scratchpad loops\n");
    for (std::size_t i = 0, allocation = 0; i < placement.partitions.size(); ++i) {
        if (allocation + 1 < placement.allocations.size() && i == placement.first_partition(allocation + 1))
            fmt::format_to(out, "    allocation {}:\n", ++allocation);
        const Partition& partition = placement.partitions[i];
        fmt::format_to(out, "    {:>7} {:>4} {:>4}   {}\n", partition.dyn_dim, partition.n, partition.p,
                       kernel_text(all.programs.at(placement.op_id)->kernels[op.kernel_first + i]));
    }
    std::map<std::uint32_t, std::string> map;
    map.emplace(op.out_offset, fmt::format("output {} x {}", op.out_slots, op.out_slot_bytes));
    for (const std::uint16_t id : op.in_edges) {
        const Edge& edge = *all.edges.at(id);
        if (carries_decisions(edge.path)) continue;
        const std::string from =
            edge.src_op == kNone ? std::string() : " from " + image.meta.operators[edge.src_op].name;
        map.emplace(edge.slot_offset, fmt::format("{}{} {} x {}{}", path_name(edge.path), from, edge.slots,
                                                  edge.slot_bytes, edge.resident ? ", resident" : ""));
    }
    fmt::format_to(out, "    scratchpad:");
    for (const auto& [offset, what] : map) fmt::format_to(out, " [{}] {};", offset, what);
    fmt::format_to(out, "\n");
}

/// ", samples sorted by ...", or nothing.
std::string order_text(const Image& image, std::uint16_t segment) {
    std::string names;
    const auto& tiles = image.chip.segments[segment].tiles;
    const SegmentOrder* const order = tiles.empty() ? nullptr : image.tiles[tiles.front()].order(segment);
    if (order == nullptr) return names;
    for (const SegmentOrder::Key& key : order->keys) {
        for (const ImageMeta::Switch& one : image.meta.switches) {
            if (one.mask_address != key.mask_address) continue;
            names += (names.empty() ? ", samples sorted by " : ", ") + one.name;
        }
    }
    return names;
}

}  // namespace

std::size_t switches_on_chip(const Image& image) {
    std::map<std::uint16_t, bool> on_chip;
    for (const TileProgram& program : image.tiles) {
        for (const Edge& edge : program.edges) {
            if (edge.switch_id == kNone || carries_decisions(edge.path)) continue;
            const auto [known, added] = on_chip.emplace(edge.switch_id, true);
            known->second = known->second && edge.path == EdgePath::on_chip;
        }
    }
    return static_cast<std::size_t>(
        std::count_if(on_chip.begin(), on_chip.end(), [](const auto& one) { return one.second; }));
}

std::string explain(const Image& image) {
    std::string text;
    Text out(text);
    const ImageMeta& meta = image.meta;
    fmt::format_to(out, "model {}, design {}, platform {} ({:016x})\n", meta.model, meta.design, meta.platform,
                   image.platform_fingerprint);
    std::size_t max_kernels = 0;
    for (const TileProgram& program : image.tiles) max_kernels = std::max(max_kernels, program.kernels.size());
    fmt::format_to(out, "{} samples a batch, {} operators, {} switches, {} segments, at most {} kernels a tile\n",
                   meta.samples_of_batch(), meta.operators.size(), meta.switches.size(), image.chip.segments.size(),
                   max_kernels);
    if (meta.batches_in_flight > 1) fmt::format_to(out, "{} batches in flight\n", meta.batches_in_flight);
    if (meta.invocation != ImageMeta{}.invocation)
        fmt::format_to(out, "kernels are invoked once a {}\n", meta.invocation);
    for (const ImageMeta::Switch& one : meta.switches) {
        fmt::format_to(out, "switch {}: {} branches, {}{}\n", one.name, one.branches,
                       one.exclusive ? "one a sample" : "any of them",
                       one.parent.empty() ? "" : fmt::format(", in {}.{}", one.parent, one.parent_branch));
    }
    const Collected all = collect(image);
    if (!meta.switches.empty())
        fmt::format_to(out, "{} of {} switches are routed on the chip\n", switches_on_chip(image),
                       meta.switches.size());
    for (std::size_t s = 0; s < image.chip.segments.size(); ++s) {
        const SegmentInfo& segment = image.chip.segments[s];
        fmt::format_to(out, "segment {}: {} units of {} samples, {} tiles{}\n", s, segment.units, segment.unit_samples,
                       segment.tiles.size(), order_text(image, static_cast<std::uint16_t>(s)));
        for (const auto& [id, placement] : all.placements) {
            if (placement->segment == s) explain_operator(out, image, all, *placement);
        }
    }
    return text;
}

}  // namespace switchyard::sched
