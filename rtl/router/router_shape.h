// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/hw/noc/flit/flit_config.h"

namespace switchyard::rtl {

/// Parameters with which rtl/router/router.sv was Verilated. A model works in any network that is no larger, with fewer
/// ports, virtual channels or slots too, but only with this very pipeline.
struct RouterShape {
    unsigned ports, vcs, depth, columns, rows;
    unsigned routing_cycles = 1, vc_alloc_cycles = 1, switch_alloc_cycles = 1, switch_cycles = 1;

    static constexpr unsigned kPayloadBits = 32;  ///< of a head flit: the packet's number

    bool same_pipeline(const hw::flit::Config& network) const;
    /// Whether a router of `network` with `ports` ports can be this one.
    bool fits(const hw::flit::Config& network, unsigned ports) const;
    /// "5 ports, 4 VCs of 16 flits, 8x8 routers, pipeline 1,1,1,1"
    std::string text() const;

    unsigned locals() const { return ports - 4; }
    unsigned count_width() const { return width(depth + 1); }
    unsigned vc_width() const { return width(vcs); }
    unsigned port_width() const { return width(ports); }
    unsigned index_width() const { return width(ports * vcs); }
    // Bits of a flit, from the lowest: see route_computation.sv.
    unsigned grid_bits() const { return columns * rows * locals(); }
    unsigned to_west_at() const { return 2 + grid_bits(); }
    unsigned x_crosses_at() const { return to_west_at() + columns; }
    unsigned to_north_at() const { return x_crosses_at() + columns; }
    unsigned y_crosses_at() const { return to_north_at() + rows; }
    unsigned length_at() const { return y_crosses_at() + rows; }
    unsigned multicast_at() const { return length_at() + count_width(); }
    unsigned control_at() const { return multicast_at() + 1; }
    unsigned payload_at() const { return control_at() + 1; }
    unsigned flit_bits() const { return payload_at() + kPayloadBits; }

private:
    /// $clog2, but 1 at least.
    static unsigned width(unsigned values) {
        unsigned bits = 1;
        while (1u << bits < values) ++bits;
        return bits;
    }
};

}  // namespace switchyard::rtl
