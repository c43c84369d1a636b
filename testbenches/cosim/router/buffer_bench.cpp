// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/cosim/router/buffer_bench.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

namespace switchyard::testing {
namespace {

using hw::flit::kNoCredit;

constexpr unsigned kPorts = 5, kLocal = 4;

/// A packet without end from one input VC to one output, and who sends and who takes its flits.
class Stream {
public:
    Stream(const hw::flit::Config& network, const MakeRouter& make, unsigned from, unsigned to, unsigned vc)
        : router_(make(network, network.columns + 1, kPorts)), from_(from), vc_(vc), credits_(network.buffer_flits) {
        in_.flits.resize(kPorts);
        in_.credits.assign(kPorts, kNoCredit);
        to_ = to;
        // The router is the one in column 1 of row 1.
        head_.valid = head_.head = true;
        head_.vc = static_cast<std::uint8_t>(vc);
        head_.flits = 1;
        hw::flit::PinDestination destination;
        destination.x = destination.y = 1;
        if (to == 0) destination.y = 0;
        if (to == 1) destination.x = 2;
        if (to == 2) destination.y = 2;
        if (to == 3) destination.x = 0;
        destination.to_north = to == 0;
        destination.to_west = to == 3;
        head_.destinations = {destination};
    }

    /// Cycles in which the sender sends whenever it has a credit. A credit of the router reaches the sender
    /// `input_latency` cycles late, a flit's credit the router `output_latency` cycles behind the flit, or never.
    /// Returns how many flits the router takes (`taken`) and gives (`given`).
    struct Flits {
        unsigned taken = 0, given = 0;
    };
    Flits run(unsigned cycles, unsigned input_latency, unsigned output_latency) {
        Flits flits;
        for (unsigned i = 0; i < cycles; ++i, ++now_) {
            // The pins as this cycle begins.
            if (router_->out().credits[from_] != kNoCredit) to_sender_.push_back(now_ + input_latency);
            if (router_->out().flits[to_].valid) {
                ++flits.given;
                if (output_latency != kNever)
                    to_router_.push_back({now_ + output_latency, router_->out().flits[to_].vc});
            }
            while (!to_sender_.empty() && to_sender_.front() <= now_) {
                to_sender_.pop_front();
                ++credits_;
            }
            in_.flits[from_] = {};
            if (credits_ > 0) {
                in_.flits[from_] = head_;
                head_.head = false;
                --credits_;
                ++flits.taken;
            }
            in_.credits[to_] = kNoCredit;
            if (!to_router_.empty() && to_router_.front().first <= now_) {
                in_.credits[to_] = to_router_.front().second;
                to_router_.pop_front();
            }
            router_->step(in_);
        }
        return flits;
    }
    /// For run(): a credit from somebody who has none to give is one for VC `vc` now.
    void give_credit() { to_router_.push_back({now_, static_cast<std::uint8_t>(last_vc())}); }

    static constexpr unsigned kNever = ~0u;

private:
    /// The VC that the stream has at its output: the one with flits on their way.
    unsigned last_vc() const {
        const hw::flit::RouterState state = router_->state();
        const std::size_t vcs = state.credits.size() / kPorts;
        for (unsigned v = 0; v < vcs; ++v)
            if ((state.free_vcs >> (to_ * vcs + v) & 1U) == 0) return v;
        return vc_;
    }

    std::unique_ptr<hw::flit::ExternalRouter> router_;
    unsigned from_, to_ = 0, vc_, credits_;
    hw::flit::PinFlit head_;
    hw::flit::RouterInputs in_;
    std::deque<std::uint64_t> to_sender_;
    std::deque<std::pair<std::uint64_t, std::uint8_t>> to_router_;
    std::uint64_t now_ = 0;
};

std::string stream_difference(const hw::flit::Config& network, const MakeRouter& make, unsigned from, unsigned to,
                              unsigned vc) {
    const unsigned slots = network.buffer_flits;
    Stream stalled(network, make, from, to, vc);
    Stream::Flits flits = stalled.run(8 * slots + 40, 0, Stream::kNever);
    if (flits.taken != 2 * slots || flits.given != slots)
        return fmt::format("takes {} and gives {} flits without a credit", flits.taken, flits.given);
    for (unsigned i = 0; i < slots; ++i) {
        stalled.give_credit();
        flits = stalled.run(12, 0, Stream::kNever);
        if (flits.taken != 1 || flits.given != 1)
            return fmt::format("takes {} and gives {} flits for a credit", flits.taken, flits.given);
    }
    // From a flit at the pins to one that takes its slot: written, granted with its credit at the pins in the next
    // cycle. From a grant to one that takes the slot behind the output: switch, pins, credit written.
    constexpr unsigned kInputTrip = 2;
    const unsigned output_trip = 2 + network.switch_cycles;
    for (unsigned latency = slots > 5 ? slots - 4 : 0; latency <= slots + 2; ++latency) {
        for (const bool input : {true, false}) {
            const unsigned trip = (input ? kInputTrip : output_trip) + latency, rounds = 6;
            const unsigned other = input ? output_trip : kInputTrip;
            // The other side is to be no limit.
            if (std::min(trip, slots) * other > slots * trip) continue;
            Stream stream(network, make, from, to, vc);
            stream.run(40 + 4 * trip, input ? latency : 0, input ? 0 : latency);
            flits = stream.run(rounds * trip, input ? latency : 0, input ? 0 : latency);
            if (flits.given != rounds * std::min(trip, slots))
                return fmt::format("{} credits {} cycles late: {} flits in {} cycles", input ? "input's" : "output's",
                                   latency, flits.given, rounds * trip);
        }
    }
    return "";
}

}  // namespace

std::string buffer_difference(const hw::flit::Config& network, const MakeRouter& make) {
    hw::flit::Config mesh = network;
    mesh.torus = false;
    for (unsigned from = 0; from < kPorts; ++from) {
        for (unsigned to = 0; to < kPorts; ++to) {
            // X-Y order: what comes along a column stays in it.
            if (from == to || ((from == 0 || from == 2) && (to == 1 || to == 3))) continue;
            if ((to == 1 && mesh.columns < 3) || (to == 2 && mesh.rows < 3)) continue;
            for (unsigned vc = 0; vc < mesh.vcs; ++vc) {
                const std::string found = stream_difference(mesh, make, from, to, vc);
                if (!found.empty()) return fmt::format("port {} VC {} to port {}: {}", from, vc, to, found);
            }
        }
    }
    return "";
}

}  // namespace switchyard::testing
