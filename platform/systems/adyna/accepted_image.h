// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::platform {

/// Throws Infeasible if the image does not fit the chip: more bytes than the image window, or more kernels in a tile
/// than its scratchpad has room for. Throws InputError if the platform is functional and a functional run cannot
/// compute the image. `source` is the file that the message names.
void check_image_fits(const PlatformConfig& platform, const Image& image, std::size_t image_bytes,
                      const std::string& source);

/// Decodes an image and refuses it if no chip of this platform runs it. All refusals that depend on image and platform
/// alone are here, whichever implementation of the chip reports them later: sy-sim calls this before a run, and
/// sy-sched before it writes an image. Throws InputError: a malformed image, one that was made for another platform,
/// kernels that a dispatcher refuses, edges that do not make one network; and what check_image_fits() throws.
Image decode_image_for(const PlatformConfig& platform, const std::vector<std::uint8_t>& image_bytes,
                       const std::string& source);

}  // namespace switchyard::platform
