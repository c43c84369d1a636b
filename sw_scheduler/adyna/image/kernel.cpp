// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/kernel.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/adyna/image/crc16.h"
#include "switchyard/sw_scheduler/base/bytes.h"

namespace switchyard {

namespace {

constexpr std::size_t kReservedBytes = 3, kCrcOffset = kKernelBytes - 2;
constexpr unsigned kLargestStride = 15;

std::uint16_t checksum(const std::uint8_t* bytes) {
    return crc16_of(bytes, kCrcOffset);
}

std::string loop_name(unsigned level, unsigned dim) {
    static constexpr const char* kLevelNames[kLevels] = {"reg", "pe", "spm", "tile", "unit"};
    return std::string("loop ") + kLevelNames[level] + "." + "nkcpqrs"[dim];
}

/// Empty if the kernel obeys the format, or what is wrong with it.
std::string violation(const Kernel& kernel) {
    for (unsigned level = 0; level < kLevels; ++level) {
        for (unsigned dim = 0; dim < kDims; ++dim) {
            const Kernel::Loop& loop = kernel.loops[level][dim];
            if (loop.block == 0) return loop_name(level, dim) + ": expected a block of at least 1, found 0";
            if (loop.stride == 0 || loop.stride > kLargestStride)
                return fmt::format("{}: expected a stride of 1 to {}, found {}", loop_name(level, dim), kLargestStride,
                                   loop.stride);
            if (loop.order >= kDims)
                return fmt::format("{}: expected an order below {}, found {}", loop_name(level, dim), kDims,
                                   loop.order);
        }
    }
    for (unsigned dim = 0; dim < kDims; ++dim)
        if (kernel.total[dim] == 0) return fmt::format("total {}: expected at least 1, found 0", "nkcpqrs"[dim]);
    if (kernel.vector_op > 1) return fmt::format("expected flags of 0 or 1, found {}", kernel.vector_op);
    return {};
}

}  // namespace

KernelBytes encode(const Kernel& kernel) {
    if (const std::string wrong = violation(kernel); !wrong.empty()) throw std::out_of_range("kernel: " + wrong);
    ByteWriter writer(kKernelBytes);
    for (const auto& level : kernel.loops) {
        for (const Kernel::Loop& loop : level) {
            writer(loop.block, static_cast<std::uint8_t>(loop.stride | loop.order << 4));
        }
    }
    for (const std::uint16_t total : kernel.total) writer(total);
    writer(kernel.op_id, kernel.vector_op, kernel.pad);
    KernelBytes bytes{};
    const std::vector<std::uint8_t> fields = writer.take();
    std::copy(fields.begin(), fields.end(), bytes.begin());
    const std::uint16_t crc = checksum(bytes.data());
    bytes[kCrcOffset] = static_cast<std::uint8_t>(crc);
    bytes[kCrcOffset + 1] = static_cast<std::uint8_t>(crc >> 8);
    return bytes;
}

Kernel decode_kernel(const std::uint8_t* bytes) {
    ByteReader reader(bytes, kKernelBytes);
    Kernel kernel;
    for (auto& level : kernel.loops) {
        for (Kernel::Loop& loop : level) {
            reader(loop.block);
            const auto packed = reader.get<std::uint8_t>();
            loop.stride = packed & 0xF;
            loop.order = packed >> 4;
        }
    }
    for (std::uint16_t& total : kernel.total) reader(total);
    reader(kernel.op_id, kernel.vector_op, kernel.pad);
    const std::uint8_t* reserved = reader.take(kReservedBytes);
    const auto stored = reader.get<std::uint16_t>();
    if (const std::uint16_t computed = checksum(bytes); computed != stored)
        throw InputError(
            fmt::format("kernel: expected bytes with the stored CRC-16 {:04x}, found {:04x}", stored, computed));
    const auto* const nonzero =
        std::find_if(reserved, reserved + kReservedBytes, [](std::uint8_t byte) { return byte != 0; });
    if (nonzero != reserved + kReservedBytes)
        throw InputError(fmt::format("kernel: expected reserved bytes of 0, found {:#04x}", *nonzero));
    if (const std::string wrong = violation(kernel); !wrong.empty()) throw InputError("kernel: " + wrong);
    return kernel;
}

}  // namespace switchyard
