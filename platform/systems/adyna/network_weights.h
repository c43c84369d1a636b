// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::platform {

/// Binary16 numbers as the chip wants them: little-endian, filled up with zeros.
std::vector<std::uint8_t> bytes_of(const std::vector<std::uint16_t>& halves, std::size_t bytes);

/// Throws InputError if the model names no parameters for values that the operator has, or names heads that its
/// channels do not have. `source` is the file that the message names.
void check_parameters(const std::string& source, const ImageMeta::Operator& meta, const OperatorShape& shape,
                      const TileOperator& op);

/// The weights of an operator in `folder` (docs/values.md, "Where values come from"), one slice of `slice_bytes` for
/// each of the parts over output channels. `model`: of whose file a mistake is. Throws InputError for parameters that
/// the model does not name, a missing file, another shape.
std::vector<std::vector<std::uint8_t>> weight_slices(const std::string& model, const std::string& folder,
                                                     const ImageMeta::Operator& meta,
                                                     const OperatorPlacement& placement, const TileOperator& op,
                                                     std::size_t slice_bytes);

}  // namespace switchyard::platform
