// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "switchyard/hw/noc/flit/external_router.h"

namespace switchyard::hw::flit {

/// "packet 3 in VC 1 head to (0,1).0", "none".
std::string text_of(const PinFlit& flit);

/// What a router that something else simulates has taken in and not yet given. Everything that its pins show is checked
/// against that before the network uses it: numbers of packets, virtual channels, destinations, and the order and
/// number of flits and credits.
class ExternalTraffic {
public:
    ExternalTraffic(unsigned ports, unsigned vcs);

    /// A flit comes in. `flits`: of its packet.
    void take(unsigned port, const PinFlit& flit, std::uint32_t flits);
    /// A flit leaves, a slot of an input's buffer becomes free. "" or what is wrong with that, in which case nothing is
    /// changed.
    std::string leave(unsigned port, const PinFlit& flit);
    std::string free_slot(unsigned port, unsigned vc);

    /// Nothing is in its buffers, and every flit that came has left by all ways.
    bool passed_all() const;
    /// Flits in its buffers.
    std::uint64_t held() const { return held_flits_; }
    /// Some flit could leave: there is one behind a head that has left by a VC with a credit, or a head for whose way,
    /// `way(destination)`, a VC is free and has credits. `credits(port, vc)`.
    bool can_move(const std::function<unsigned(const PinDestination&)>& way,
                  const std::function<unsigned(unsigned, unsigned)>& credits) const;
    /// "3 flits in its buffers, of packets 4 7"
    std::string text() const;

private:
    struct Inside {
        std::uint32_t flits = 0, arrived = 0;
        PinFlit head;
        std::vector<PinDestination> to;  ///< by which no head has left
        unsigned branches = 0;           ///< output VCs by which it is leaving
    };
    struct Leaving {
        bool any = false;
        std::uint32_t packet = 0, sent = 0;
    };

    std::string leave_head(const PinFlit& flit, Leaving& way);

    unsigned ports_, vcs_;
    std::vector<std::uint32_t> held_;  ///< by port * vcs + vc
    std::uint64_t held_flits_ = 0;
    std::vector<std::uint32_t> arriving_;  ///< packet whose flits come by this input VC
    std::vector<Leaving> leaving_;         ///< by output VC
    std::map<std::uint32_t, Inside> inside_;
};

}  // namespace switchyard::hw::flit
