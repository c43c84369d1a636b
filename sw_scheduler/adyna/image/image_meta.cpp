// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/image_meta.h"

#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
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

namespace {

template <class T>
void read(const JsonReader& object, const char* key, T& value) {
    const JsonReader member = object.member(key);
    if constexpr (std::is_same_v<T, std::string>)
        value = member.text();
    else if constexpr (std::is_same_v<T, bool>)
        value = member.yes_no();
    else if constexpr (std::is_floating_point_v<T>)
        value = member.number();
    else if constexpr (std::is_signed_v<T>)
        value = static_cast<T>(member.signed_integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    else
        value = static_cast<T>(member.integer(0, std::numeric_limits<T>::max()));
}

ImageMeta::Operator operator_from(const JsonReader& object) {
    ImageMeta::Operator op;
    read(object, "name", op.name);
    read(object, "kind", op.kind);
    read(object, "macs_per_sample", op.macs_per_sample);
    read(object, "dynamic", op.dynamic);
    read(object, "segment", op.segment);
    read(object, "switch_name", op.switch_name);
    read(object, "parameters", op.parameters);
    read(object, "weight_scale", op.weight_scale);
    read(object, "group", op.group);
    read(object, "groups", op.groups);
    read(object, "partial", op.partial);
    read(object, "norm_parameters", op.norm_parameters);
    read(object, "position_parameters", op.position_parameters);
    read(object, "expert", op.expert);
    read(object, "heads", op.heads);
    if (op.groups == 0 || op.group >= op.groups)
        object.fail(fmt::format("expected a group below the number of groups, {}, found {}", op.groups, op.group));
    return op;
}

ImageMeta::Switch switch_from(const JsonReader& object) {
    ImageMeta::Switch one;
    read(object, "name", one.name);
    read(object, "branches", one.branches);
    read(object, "parent", one.parent);
    read(object, "parent_branch", one.parent_branch);
    read(object, "mask_address", one.mask_address);
    read(object, "bank_stride", one.bank_stride);
    read(object, "exclusive", one.exclusive);
    return one;
}

ImageMeta::Tensor tensor_from(const JsonReader& object) {
    ImageMeta::Tensor tensor;
    read(object, "name", tensor.name);
    read(object, "kind", tensor.kind);
    read(object, "bytes", tensor.bytes);
    tensor.addresses = object.member("addresses").integers();
    tensor.piece_bytes = object.member("piece_bytes").integers();
    read(object, "bank_stride", tensor.bank_stride);
    read(object, "per_input", tensor.per_input);
    return tensor;
}

}  // namespace

ImageMeta meta_from_json(const std::uint8_t* bytes, std::size_t size) {
    const nlohmann::json document = parse_json({reinterpret_cast<const char*>(bytes), size}, "META", 0);
    const JsonReader object(document, "META");
    ImageMeta meta;
    read(object, "model", meta.model);
    read(object, "design", meta.design);
    read(object, "platform", meta.platform);
    meta.without = object.member("without").texts();
    read(object, "batch_samples", meta.batch_samples);
    read(object, "samples_per_input", meta.samples_per_input);
    for (const JsonReader& one : object.member("operators").list()) meta.operators.push_back(operator_from(one));
    for (const JsonReader& one : object.member("switches").list()) meta.switches.push_back(switch_from(one));
    for (const JsonReader& one : object.member("tensors").list()) meta.tensors.push_back(tensor_from(one));
    read(object, "routing_yaml", meta.routing_yaml);
    if (object.has(kInvocation)) read(object, kInvocation, meta.invocation);
    if (object.has(kRouting)) read(object, kRouting, meta.routing);
    if (object.has(kInFlight)) read(object, kInFlight, meta.batches_in_flight);
    return meta;
}

}  // namespace switchyard
