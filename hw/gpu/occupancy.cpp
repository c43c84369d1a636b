// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/occupancy.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/rounding.h"

namespace switchyard::hw {

namespace {

std::uint32_t multiple(std::uint32_t value, std::uint32_t unit) {
    return static_cast<std::uint32_t>(ceil_div(value, unit) * unit);
}

}  // namespace

CtaResources& CtaResources::operator+=(const CtaResources& other) {
    ctas += other.ctas;
    warps += other.warps;
    registers += other.registers;
    shared_bytes += other.shared_bytes;
    return *this;
}

CtaResources& CtaResources::operator-=(const CtaResources& other) {
    ctas -= other.ctas;
    warps -= other.warps;
    registers -= other.registers;
    shared_bytes -= other.shared_bytes;
    return *this;
}

CtaResources CtaResources::times(std::uint32_t count) const {
    return {ctas * count, warps * count, registers * count, shared_bytes * count};
}

bool CtaResources::fits(const CtaResources& limit) const {
    return ctas <= limit.ctas && warps <= limit.warps && registers <= limit.registers &&
           shared_bytes <= limit.shared_bytes;
}

CtaResources capacity(const MultiprocessorConfig& config) {
    return {config.max_ctas, config.max_warps, config.registers, config.shared_bytes};
}

CtaResources cta_resources(const MultiprocessorConfig& config, const GpuPacket& kernel) {
    const std::uint32_t warps = kernel.warps_per_cta();
    const std::uint32_t warp_registers = multiple(32 * kernel.registers_per_thread, config.register_unit);
    const std::uint32_t partition_registers = config.registers / config.partitions;
    const std::uint32_t warps_of_partition = std::max(1u, partition_registers / warp_registers);
    return {1, warps, warps * std::max(warp_registers, partition_registers / warps_of_partition),
            multiple(kernel.shared_bytes + config.reserved_shared_bytes, config.shared_unit_bytes)};
}

std::uint32_t resident_ctas(const MultiprocessorConfig& config, const GpuPacket& kernel) {
    const CtaResources one = cta_resources(config, kernel);
    std::uint32_t count = std::min(config.max_ctas, config.max_warps / one.warps);
    if (one.registers > 0) count = std::min(count, config.registers / one.registers);
    if (one.shared_bytes > 0) count = std::min(count, config.shared_bytes / one.shared_bytes);
    return count;
}

std::string fit_error(const MultiprocessorConfig& config, const GpuPacket& kernel) {
    const CtaResources one = cta_resources(config, kernel);
    const auto message = [](const char* key, std::uint32_t taken, std::uint32_t limit) {
        return fmt::format("{}: expected at most {} in a CTA, as an SM has, found {}", key, limit, taken);
    };
    if (one.warps > config.max_warps) return message("block", one.warps * 32, config.max_warps * 32);
    if (one.registers > config.registers) return message("registers", one.registers, config.registers);
    if (one.shared_bytes > config.shared_bytes) return message("shared_bytes", one.shared_bytes, config.shared_bytes);
    return "";
}

std::string validation_error(const MultiprocessorConfig& config) {
    if (config.max_warps < config.partitions)
        return fmt::format("max_warps: expected at least partitions, {}, found {}", config.partitions,
                           config.max_warps);
    if (config.shared_bytes < config.reserved_shared_bytes)
        return fmt::format("shared_bytes: expected at least reserved_shared_bytes, {}, found {}",
                           config.reserved_shared_bytes, config.shared_bytes);
    return "";
}

}  // namespace switchyard::hw
