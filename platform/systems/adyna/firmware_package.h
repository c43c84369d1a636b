// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// What firmware is to run, and what it may compare with.
struct FirmwareJob {
    std::uint64_t address = 0;          ///< of the package on the bus, for the chip's DMA
    std::uint32_t batches = 1;          ///< batch b has the inputs of batch b % NetworkValues::batches()
    std::optional<NpyArray> outputs;    ///< expected, (samples, classes): samples of all different batches
    std::vector<BatchRouting> routing;  ///< recorded, of all different batches; empty: not known
};

/// The block of memory of driver/switchyard_package.h: image, DMA lists, weights, inputs, room for outputs and masks.
/// Throws InputError for an address that is no multiple of 16, expected values of another shape or number, more than
/// 4 GiB.
std::vector<std::uint8_t> make_firmware_package(const Image& image, const NetworkValues& values,
                                                const FirmwareJob& job);

}  // namespace switchyard::platform
