// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::hw::flit {

struct Config;

/// A destination in the header of a packet: an endpoint, and the way that the source has chosen for it.
struct PinDestination {
    std::uint8_t x = 0, y = 0;
    std::uint8_t local = 0;                    ///< port of its router, from 0 for port::kLocal
    bool to_west = false, x_crosses = false;   ///< along its row, if it is in another column; over the dateline
    bool to_north = false, y_crosses = false;  ///< along its column

    bool operator==(const PinDestination& o) const {
        return x == o.x && y == o.y && local == o.local && to_west == o.to_west && x_crosses == o.x_crosses &&
               to_north == o.to_north && y_crosses == o.y_crosses;
    }
};

/// A flit at a port of a router.
struct PinFlit {
    bool valid = false, head = false, tail = false;
    std::uint8_t vc = 0;
    std::uint32_t packet = 0;  ///< its number: what the flit carries
    // Of a head.
    bool control = false;
    bool multicast = false;   ///< moves only where the next buffer has room for all of it; may be copied on the way
    std::uint16_t flits = 0;  ///< of a multicast
    std::vector<PinDestination> destinations;  ///< in rising order of router and port
};

inline constexpr std::uint8_t kNoCredit = 0xFF;

/// The pins of a router during one cycle, without clock and reset, by port.
struct RouterInputs {
    std::vector<PinFlit> flits;
    std::vector<std::uint8_t> credits;  ///< VC in which the slot behind an output became free, or kNoCredit
};
struct RouterOutputs {
    std::vector<PinFlit> flits;
    std::vector<std::uint8_t> credits;  ///< the same for the input's own buffers
};

/// What a router's registers hold, as far as a packet's way and time depend on it. Masks have a bit for each VC of the
/// inputs, or of the outputs (port * VCs + VC); vectors have an element for each.
struct RouterState {
    std::uint64_t routing = 0, vc_alloc = 0, vc_wait = 0, switch_alloc = 0, switch_wait = 0, copying = 0;
    std::uint64_t free_vcs = 0;  ///< outputs
    std::vector<std::uint16_t> held, credits;
    std::vector<std::uint8_t> vc_grant_pointer, vc_accept_pointer;
    std::vector<std::uint8_t> switch_grant_pointer, switch_accept_pointer, switch_turn;  ///< by port
};

/// A router of FlitNetwork that something else simulates, such as RTL, at its pins.
class ExternalRouter : public RtlPart {
public:
    /// Ends a cycle in which `in` was at the pins. A flit that a router grants in cycle t is at its output pins in
    /// cycle t + switch_cycles + 1, the credit for its slot in cycle t + 1. Throws RtlFault.
    virtual void step(const RouterInputs& in) = 0;
    /// The pins in the cycle that has begun.
    virtual const RouterOutputs& out() const = 0;
    /// With nothing at its inputs, another cycle would still change something.
    virtual bool busy() const = 0;
    /// In the cycle that has begun.
    virtual RouterState state() const = 0;
};

/// Makes router number `router` of a network whose routers have `ports` ports. `waveform`: a file for its last cycles
/// (evidence()), or "". Throws std::invalid_argument if there is none for such a network.
using RouterFactory = std::function<std::unique_ptr<ExternalRouter>(const Config& network, unsigned router,
                                                                    unsigned ports, const std::string& waveform)>;

}  // namespace switchyard::hw::flit
