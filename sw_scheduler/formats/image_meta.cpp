#include "switchyard/sw_scheduler/formats/image_meta.h"

#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/formats/error.h"

namespace switchyard {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta::Operator, name, kind, macs_per_sample, dynamic, segment, switch_name,
                                   parameters, weight_scale, group, groups, partial, norm_parameters,
                                   position_parameters, expert, heads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta::Switch, name, branches, parent, parent_branch, mask_address, bank_stride,
                                   exclusive)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta::Tensor, name, kind, bytes, addresses, piece_bytes, bank_stride, per_input)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ImageMeta, model, design, platform, without, batch_samples, samples_per_input,
                                   operators, switches, tensors, routing_yaml)

std::string meta_to_json(const ImageMeta& meta) {
    return nlohmann::json(meta).dump();
}

ImageMeta meta_from_json(const std::uint8_t* bytes, std::size_t size) {
    try {
        return nlohmann::json::parse(bytes, bytes + size).get<ImageMeta>();
    } catch (const nlohmann::json::exception& error) {
        throw InputError(error.what());
    }
}

}  // namespace switchyard
