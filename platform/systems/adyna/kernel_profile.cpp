// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/kernel_profile.h"

#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/output_marker.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

/// Invocations of each kernel of an operator on one tile, by dyn_dim; 0: units without a sample.
ordered_json invocations(const TileProgram& tile, const TileOperator& op, const std::vector<ProfileRecord>& records) {
    std::map<std::uint16_t, std::uint32_t> counts{{std::uint16_t{0}, 0}};
    for (unsigned k = 0; k < op.kernel_count; ++k) counts[tile.kernels.at(op.kernel_first + k).dyn_dim()] = 0;
    for (const ProfileRecord& record : records)
        if (record.op_id == op.op_id) counts[record.kernel_dyn_dim] += record.invocations;
    ordered_json kernels = ordered_json::object();
    for (const auto& [dyn_dim, count] : counts) kernels[std::to_string(dyn_dim)] = count;
    return kernels;
}

}  // namespace

ordered_json kernel_profile(const Image& image, const SimulatedHost::Profile& read_back) {
    std::map<std::uint16_t, ordered_json> by_operator;
    for (std::size_t t = 0; t < image.tiles.size(); ++t) {
        const TileProgram& tile = image.tiles[t];
        for (const TileOperator& op : tile.operators) {
            const ImageMeta::Operator& meta = image.meta.operators[op.op_id];
            if (op.rank != 0 || !meta.dynamic || meta.partial) continue;  // a model's operators only
            const OperatorPlacement& placement = tile.placement(op.op_id);
            const std::uint32_t counted =
                placement.invoked_by_batch() ? image.meta.samples_of_batch() : placement.unit_samples;
            by_operator[op.op_id] = {{"unit_samples", counted},
                                     {"kernels", invocations(tile, op, read_back.by_tile.at(t))}};
        }
    }
    ordered_json operators = ordered_json::object();
    for (auto& [op_id, entry] : by_operator) operators[image.meta.operators[op_id].name] = std::move(entry);
    return {{kProgramKey, kProgram},
            {"batch_samples", image.meta.samples_of_batch()},
            {"unit_samples", image.meta.samples_of_batch()},
            {"batches", read_back.batches_of_phase * image.meta.batches_in_flight},
            {"operators", std::move(operators)}};
}

}  // namespace switchyard::platform
