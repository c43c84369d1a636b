// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "switchyard/hw/gpu/multiprocessor_config.h"
#include "switchyard/hw/gpu/packet.h"

namespace switchyard::hw {

/// What resident CTAs take of a multiprocessor.
struct CtaResources {
    std::uint32_t ctas = 0, warps = 0, registers = 0, shared_bytes = 0;

    CtaResources& operator+=(const CtaResources& other);
    CtaResources& operator-=(const CtaResources& other);
    CtaResources times(std::uint32_t count) const;
    bool fits(const CtaResources& limit) const;
};

CtaResources capacity(const MultiprocessorConfig& config);

/// What one CTA of the kernel takes, by the rules of the CUDA Occupancy Calculator: registers are given warp by warp in
/// multiples of register_unit, and a partition holds whole warps, so that each counts as its share of a partition;
/// shared memory in multiples of shared_unit_bytes, with
/// reserved_shared_bytes on top.
CtaResources cta_resources(const MultiprocessorConfig& config, const GpuPacket& kernel);

/// CTAs of the kernel that an empty multiprocessor holds; 0: none fits.
std::uint32_t resident_ctas(const MultiprocessorConfig& config, const GpuPacket& kernel);

/// "" or why no CTA of the kernel fits a multiprocessor: "shared_bytes: a CTA takes 200000, an SM has 167936".
std::string fit_error(const MultiprocessorConfig& config, const GpuPacket& kernel);

}  // namespace switchyard::hw
