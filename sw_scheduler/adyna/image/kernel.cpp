// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/kernel.h"

#include <algorithm>
#include <stdexcept>
#include <string>

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
            if (loop.block == 0) return loop_name(level, dim) + ": a block of 0";
            if (loop.stride == 0 || loop.stride > kLargestStride)
                return loop_name(level, dim) + ": a stride of " + std::to_string(loop.stride);
            if (loop.order >= kDims) return loop_name(level, dim) + ": an order of " + std::to_string(loop.order);
        }
    }
    for (unsigned dim = 0; dim < kDims; ++dim)
        if (kernel.total[dim] == 0) return std::string("total ") + "nkcpqrs"[dim] + ": 0";
    if (kernel.vector_op > 1) return "flags of " + std::to_string(kernel.vector_op);
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
    if (stored != checksum(bytes)) throw InputError("kernel: CRC-16 does not match");
    if (std::any_of(reserved, reserved + kReservedBytes, [](std::uint8_t byte) { return byte != 0; }))
        throw InputError("kernel: a reserved byte is not zero");
    if (const std::string wrong = violation(kernel); !wrong.empty()) throw InputError("kernel: " + wrong);
    return kernel;
}

}  // namespace switchyard
