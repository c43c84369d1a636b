// SPDX-License-Identifier: Apache-2.0
// What `sy-sched inspect` shows, as data.

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"

namespace switchyard::sched {

namespace {

using nlohmann::ordered_json;

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

/// What of an image belongs to an operator, by the operator's number.
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

ordered_json block(const std::array<std::uint16_t, 4>& b) {
    return {{"n", b[kN]}, {"k", b[kK]}, {"p", b[kP]}, {"q", b[kQ]}};
}

ordered_json kernels_of(const Collected& all, const OperatorPlacement& placement) {
    const TileOperator& op = *all.operators.at(placement.op_id);
    ordered_json kernels = ordered_json::array();
    std::size_t allocation = 0;
    for (std::size_t i = 0; i < placement.partitions.size(); ++i) {
        if (allocation + 1 < placement.allocations.size() && i == placement.first_partition(allocation + 1))
            ++allocation;
        const Kernel& kernel = all.programs.at(placement.op_id)->kernels[op.kernel_first + i];
        const Blocking blocking = blocking_of(kernel);
        std::array<std::uint16_t, 4> trips{};
        for (unsigned d = 0; d < 4; ++d) trips[d] = kernel.loop(Level::spm, kBlockedDims[d]).block;
        kernels.push_back({{"dyn_dim", placement.partitions[i].dyn_dim},
                           {"allocation", allocation},
                           {"n_factor", placement.partitions[i].n},
                           {"p_factor", placement.partitions[i].p},
                           {"reg", block(blocking.reg)},
                           {"pe", block(blocking.pe)},
                           {"scratchpad_loops", block(trips)}});
    }
    return kernels;
}

/// The largest tile count of each allocation of tiles shared with other operators; 0: used by units without samples
/// only.
ordered_json allocations_of(const OperatorPlacement& placement) {
    ordered_json allocations = ordered_json::array();
    for (unsigned k = 0; k < placement.allocations.size(); ++k) {
        std::uint32_t max = 0;
        const bool used = !placement.allocations[k].own.empty();
        for (std::size_t i = placement.first_partition(k); used && i < placement.last_partition(k); ++i)
            max = std::max(max,
                           std::uint32_t{placement.partitions[i].n} * placement.partitions[i].p * placement.k_factor);
        allocations.push_back(max);
    }
    return allocations;
}

/// What lies in the scratchpad of a tile of the operator, in the order of addresses.
ordered_json scratchpad_of(const Image& image, const Collected& all, const TileOperator& op) {
    std::map<std::uint32_t, ordered_json> map;
    map.emplace(op.out_offset,
                ordered_json{{"content", "output"}, {"slots", op.out_slots}, {"slot_bytes", op.out_slot_bytes}});
    for (const std::uint16_t id : op.in_edges) {
        const Edge& edge = *all.edges.at(id);
        if (carries_decisions(edge.path)) continue;
        ordered_json entry{{"content", path_name(edge.path)}};
        if (edge.src_op != kNone) entry["from"] = image.meta.operators[edge.src_op].name;
        entry["slots"] = edge.slots;
        entry["slot_bytes"] = edge.slot_bytes;
        entry["resident"] = edge.resident;
        map.emplace(edge.slot_offset, std::move(entry));
    }
    ordered_json scratchpad = ordered_json::array();
    for (auto& [offset, entry] : map) {
        ordered_json with_offset{{"offset", offset}};
        with_offset.update(entry);
        scratchpad.push_back(std::move(with_offset));
    }
    return scratchpad;
}

ordered_json operator_json(const Image& image, const Collected& all, const OperatorPlacement& placement) {
    const ImageMeta::Operator& meta = image.meta.operators[placement.op_id];
    ordered_json result{{"id", placement.op_id}, {"name", meta.name}, {"kind", meta.kind}};
    if (meta.dynamic) result["switch"] = meta.switch_name;
    result["tiles"] = placement.tiles;
    result["k_factor"] = placement.k_factor;
    const std::set<std::uint16_t> own(placement.tiles.begin(), placement.tiles.end());
    ordered_json time_shared = ordered_json::array(), shares = ordered_json::array();
    for (const auto& [id, other] : all.placements) {
        if (id == placement.op_id || other->segment != placement.segment) continue;
        const std::string& name = image.meta.operators[id].name;
        if (other->tiles == placement.tiles) time_shared.push_back(name);
        const auto common = std::count_if(other->tiles.begin(), other->tiles.end(),
                                          [&own](std::uint16_t tile) { return own.count(tile) > 0; });
        if (common > 0) shares.push_back({{"operator", name}, {"tiles", common}});
    }
    result["time_shared_with"] = std::move(time_shared);
    if (!placement.allocations.empty()) {
        result["shares"] = std::move(shares);
        result["allocations"] = allocations_of(placement);
    }
    result["kernels"] = kernels_of(all, placement);
    result["scratchpad"] = scratchpad_of(image, all, *all.operators.at(placement.op_id));
    return result;
}

/// The switches whose decisions a segment's samples are sorted by.
ordered_json order_of(const Image& image, std::uint16_t segment) {
    ordered_json names = ordered_json::array();
    const auto& tiles = image.chip.segments[segment].tiles;
    const SegmentOrder* const order = tiles.empty() ? nullptr : image.tiles[tiles.front()].order(segment);
    if (order == nullptr) return names;
    for (const SegmentOrder::Key& key : order->keys)
        for (const ImageMeta::Switch& one : image.meta.switches)
            if (one.mask_address == key.mask_address) names.push_back(one.name);
    return names;
}

ordered_json switches_of(const ImageMeta& meta) {
    ordered_json switches = ordered_json::array();
    for (const ImageMeta::Switch& one : meta.switches) {
        ordered_json entry{{"name", one.name}, {"branches", one.branches}, {"exclusive", one.exclusive}};
        if (!one.parent.empty()) {
            entry["parent"] = one.parent;
            entry["parent_branch"] = one.parent_branch;
        }
        switches.push_back(std::move(entry));
    }
    return switches;
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

ordered_json describe_image(const Image& image) {
    const ImageMeta& meta = image.meta;
    std::size_t max_kernels = 0;
    for (const TileProgram& program : image.tiles) max_kernels = std::max(max_kernels, program.kernels.size());
    ordered_json result{{"format", "switchyard-inspect"},
                        {"version", 1},
                        {"model", meta.model},
                        {"design", meta.design},
                        {"platform", meta.platform},
                        {"platform_fingerprint", fmt::format("{:016x}", image.platform_fingerprint)},
                        {"batch_samples", meta.samples_of_batch()},
                        {"batches_in_flight", meta.batches_in_flight},
                        {"invocation", meta.invocation},
                        {"operators", meta.operators.size()},
                        {"max_kernels_per_tile", max_kernels},
                        {"switches", switches_of(meta)},
                        {"switches_on_chip", switches_on_chip(image)}};
    const Collected all = collect(image);
    ordered_json segments = ordered_json::array();
    for (std::size_t s = 0; s < image.chip.segments.size(); ++s) {
        const SegmentInfo& segment = image.chip.segments[s];
        ordered_json operators = ordered_json::array();
        for (const auto& [id, placement] : all.placements)
            if (placement->segment == s) operators.push_back(operator_json(image, all, *placement));
        segments.push_back({{"units", segment.units},
                            {"unit_samples", segment.unit_samples},
                            {"tiles", segment.tiles},
                            {"sorted_by", order_of(image, static_cast<std::uint16_t>(s))},
                            {"operators", std::move(operators)}});
    }
    result["segments"] = std::move(segments);
    return result;
}

}  // namespace switchyard::sched
