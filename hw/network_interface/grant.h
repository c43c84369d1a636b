// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <systemc>

#include "switchyard/tlm/packet_format.h"

namespace switchyard::hw {

/// An acknowledge that is on its way to this tile: `source` has a slot for a unit.
struct Grant {
    std::uint32_t batch;
    std::uint16_t unit;
    Endpoint source;
    sc_core::sc_time arrival;
};

}  // namespace switchyard::hw
