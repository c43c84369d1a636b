// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/image_meta.h"

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta::Operator, name, kind, macs_per_sample, dynamic, segment, switch_name,
                                   parameters, weight_scale, group, groups, partial, norm_parameters,
                                   position_parameters, expert, heads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta::Switch, name, branches, parent, parent_branch, mask_address, bank_stride,
                                   exclusive)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta::Tensor, name, kind, bytes, addresses, piece_bytes, bank_stride, per_input)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta, model, design, platform, without, batch_samples, samples_per_input,
                                   operators, switches, tensors, routing_yaml)

namespace {

/// Only where they are not the usual ones: older readers of images ignore them.
constexpr const char *kInvocation = "invocation", *kRouting = "routing", *kInFlight = "batches_in_flight";

}  // namespace

std::string meta_to_json(const ImageMeta& meta) {
    nlohmann::json json(meta);
    if (meta.invocation != ImageMeta{}.invocation) json[kInvocation] = meta.invocation;
    if (meta.routing != ImageMeta{}.routing) json[kRouting] = meta.routing;
    if (meta.batches_in_flight != 1) json[kInFlight] = meta.batches_in_flight;
    // A model's name need not be UTF-8.
    return json_text(json);
}

ImageMeta meta_from_json(const std::uint8_t* bytes, std::size_t size) {
    try {
        const nlohmann::json json = parse_json({reinterpret_cast<const char*>(bytes), size}, "META", 0);
        auto meta = json.get<ImageMeta>();
        meta.invocation = json.value(kInvocation, meta.invocation);
        meta.routing = json.value(kRouting, meta.routing);
        meta.batches_in_flight = json.value(kInFlight, meta.batches_in_flight);
        return meta;
    } catch (const nlohmann::json::exception& error) {
        // Behind the library's own number stands what is missing or of another type.
        const std::string text = error.what();
        throw InputError("META: " + text.substr(text.find("] ") + 2));
    }
}

}  // namespace switchyard
