// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard {

/// The bytes of a file or pipe that begins as an image, of which no more is read than its header says. Throws
/// InputError for what cannot be read, ImageError for another beginning.
std::vector<std::uint8_t> read_image_bytes(const std::string& path);

}  // namespace switchyard
