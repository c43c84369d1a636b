// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard {

/// The image's META section: one JSON object, keys in alphabetical order, no white space.
std::string meta_to_json(const ImageMeta& meta);
/// Throws InputError if a key is missing or of the wrong type.
ImageMeta meta_from_json(const std::uint8_t* bytes, std::size_t size);

}  // namespace switchyard
