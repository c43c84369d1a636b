#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/platform/network_values.h"
#include "switchyard/sw_scheduler/formats/image.h"
#include "switchyard/sw_scheduler/formats/trace.h"

namespace switchyard::testing {

/// A network for the firmware: what to put into RAM, and where results will be.
struct BootPackage {
    std::vector<std::uint8_t> bytes;  ///< from PACKAGE_ADDRESS on
    std::uint32_t labels = 0, samples = 0, logits = 0, logits_bytes = 0, masks = 0, masks_bytes = 0;
};

/// Every batch of the package has the inputs of `values`' first batch; `routing` is its recorded routing and
/// `expected_labels` one label a sample of it.
BootPackage make_boot_package(const Image& image, const platform::NetworkValues& values, const BatchRouting& routing,
                              const std::vector<std::uint8_t>& expected_labels, unsigned tiles);

}  // namespace switchyard::testing
