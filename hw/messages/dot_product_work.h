// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tlm>

#include "switchyard/sw_scheduler/workload/weight_tiles.h"

namespace switchyard {

/// Controller to dot-product array, on a payload with TLM_IGNORE_COMMAND: one work unit of a convolution. Addresses are
/// those of the buffers beside the array. The array adds the unit's cycles to `delay`.
///
/// Layouts. Persistent buffer: the layer's slice [cached.kernels][cached.channels][window]. Dynamic buffer: kernel by
/// kernel of the tile what is not in that slice, [channels][window]. Streaming buffer: [channel][row][column], rows
/// input_begin to input_end. Parameters: a kernel's bias, multiplier (int32, little-endian) and shift (int8). Output
/// bank: results [kernel][position], one byte each (int32 where the layer sums pixels); a residual [kernel][position]
/// at `residual_address`.
struct DotProductWorkExtension : ::tlm::tlm_extension<DotProductWorkExtension> {
    sched::Convolution layer;
    sched::WeightSlice cached;
    sched::WorkUnit unit;
    std::uint32_t input_begin = 0, input_end = 0;  ///< rows in the streaming buffer
    std::uint64_t persistent_address = 0, dynamic_address = 0, input_address = 0, parameter_address = 0;
    std::uint64_t output_address = 0, residual_address = 0;
    std::int32_t input_zero = -128;   ///< of the padding; biases have the zero point's share of the sum in them
    std::int32_t output_zero = -128;  ///< added to what is not a residual
    bool has_values = true;           ///< false: sizes and time only, no buffer is touched

    std::uint64_t cycles = 0;  ///< result: added to delay

    ::tlm::tlm_extension_base* clone() const override { return new DotProductWorkExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const DotProductWorkExtension&>(other);
    }
};

}  // namespace switchyard
