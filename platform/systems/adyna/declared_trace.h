// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::platform {

/// Which trace the model of an image declares: `IMAGE.trace`, a file beside the image, so that the image itself does
/// not depend on where it is written. JSON: `trace`, relative to the image's folder, `trace_crc32`, and `image_crc32`.

/// The file's text for an image of these bytes that is to lie at `image_path`. Throws InputError if the trace cannot be
/// read.
std::string trace_link(const std::string& trace, const std::vector<std::uint8_t>& image_bytes,
                       const std::string& image_path);
std::string trace_link_path(const std::string& image_path);

/// The trace that the file beside the image names. Throws InputError if there is no such file or it is of another
/// image, if the trace is not there, and if it is another one by now.
std::string declared_trace(const std::vector<std::uint8_t>& image_bytes, const std::string& image_path);

}  // namespace switchyard::platform
