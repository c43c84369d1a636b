// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <CLI/CLI.hpp>

namespace switchyard::platform {

/// Checks of numeric options. They look at the text that was given, before CLI11 converts it: that takes "010" for 8
/// and lets "nan" through every range. The number is decimal and finite, without leading zeros.
CLI::Validator whole_number(std::uint64_t low, std::uint64_t high = std::numeric_limits<std::uint64_t>::max());
CLI::Validator number(double low, double high = std::numeric_limits<double>::max());
CLI::Validator positive_number();

/// A bus address: decimal as whole_number(), or hexadecimal behind "0x".
CLI::Validator bus_address();

}  // namespace switchyard::platform
