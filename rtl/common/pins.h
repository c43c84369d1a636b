// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace switchyard::rtl {

/// The lowest `width` bits, at most 64.
constexpr std::uint64_t low_bits(unsigned width) {
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// `width` bits of a Verilated pin from `at` on; at most 64.
template <class Pin>
std::uint64_t bits_of(const Pin& pin, unsigned at, unsigned width) {
    if constexpr (std::is_integral_v<Pin>) {
        return static_cast<std::uint64_t>(pin) >> at & low_bits(width);
    } else {
        std::uint64_t value = 0;
        for (unsigned done = 0; done < width;) {
            const unsigned from = (at + done) % 32;
            value |= static_cast<std::uint64_t>(pin[(at + done) / 32] >> from) << done;
            done += 32 - from;
        }
        return value & low_bits(width);
    }
}
/// The opposite.
template <class Pin>
void set_bits(Pin& pin, unsigned at, unsigned width, std::uint64_t value) {
    if constexpr (std::is_integral_v<Pin>) {
        const std::uint64_t mask = low_bits(width) << at;
        pin = static_cast<Pin>((static_cast<std::uint64_t>(pin) & ~mask) | (value << at & mask));
    } else {
        for (unsigned done = 0; done < width;) {
            const unsigned from = (at + done) % 32, here = width - done < 32 - from ? width - done : 32 - from;
            const std::uint64_t mask = low_bits(here), part = value >> done & mask;
            pin[(at + done) / 32] =
                static_cast<std::uint32_t>((pin[(at + done) / 32] & ~(mask << from)) | part << from);
            done += here;
        }
    }
}
/// `count` bytes from the pin's lowest on, on a little-endian host.
template <class Pin>
void read_bytes(const Pin& pin, std::uint8_t* bytes, std::size_t count) {
    if constexpr (std::is_integral_v<Pin>) {
        std::memcpy(bytes, &pin, count);
    } else {
        std::memcpy(bytes, &pin[0], count);
    }
}
/// The opposite.
template <class Pin>
void write_bytes(Pin& pin, const std::uint8_t* bytes, std::size_t count) {
    if constexpr (std::is_integral_v<Pin>) {
        std::memcpy(&pin, bytes, count);
    } else {
        std::memcpy(&pin[0], bytes, count);
    }
}

}  // namespace switchyard::rtl
