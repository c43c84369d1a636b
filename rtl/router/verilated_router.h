// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind ExternalRouter: the library's, and those of the tests, which
// have mutants and builds with coverage.
#include <algorithm>

#include "switchyard/hw/noc/flit/external_router.h"
#include "switchyard/rtl/common/pins.h"
#include "switchyard/rtl/common/recorded_model.h"
#include "switchyard/rtl/router/router_shape.h"

namespace switchyard::rtl {

struct RouterPins {
    template <class Top, class Visit>
    static void inputs(Top& top, Visit&& visit) {
        visit(top.rst_ni);
        visit(top.x_i);
        visit(top.y_i);
        visit(top.class_low_i);
        visit(top.class_high_i);
        visit(top.places_i);
        visit(top.flit_valid_i);
        visit(top.flit_vc_i);
        visit(top.flit_i);
        visit(top.credit_valid_i);
        visit(top.credit_vc_i);
    }
};

/// `Top`: the Verilated class of module router, built with TRACE if `Traced`.
template <class Top, bool Traced>
class VerilatedRouter : public hw::flit::ExternalRouter, private RecordedModel<Top, RouterPins, Traced> {
    using Clocked = RecordedModel<Top, RouterPins, Traced>;
    using Clocked::top_;

public:
    using Clocked::save_coverage;

    /// Router number `router` of `network`, out of reset, with `ports` ports. `waveform`: where its last cycles are to
    /// be shown after a failure (evidence()), "" if nowhere.
    VerilatedRouter(const RouterShape& shape, const hw::flit::Config& network, unsigned router, unsigned ports,
                    const std::string& waveform = "")
        : shape_(shape), network_(network), ports_(ports) {
        Clocked::keep_waveform(waveform);
        out_.flits.resize(ports);
        out_.credits.resize(ports, static_cast<std::uint8_t>(hw::flit::kNoCredit));
        top_.x_i = static_cast<std::uint8_t>(router % network.columns);
        top_.y_i = static_cast<std::uint8_t>(router / network.columns);
        top_.places_i = static_cast<std::uint8_t>(network.buffer_flits);
        const auto ranges = [&](unsigned group, unsigned first, unsigned count) {
            const bool halves = network.torus && network.dateline;
            const std::uint64_t all = ((std::uint64_t{1} << count) - 1) << first;
            const std::uint64_t low = halves ? ((std::uint64_t{1} << count / 2) - 1) << first : all;
            set_bits(top_.class_low_i, group * shape_.vcs, shape_.vcs, low);
            set_bits(top_.class_high_i, group * shape_.vcs, shape_.vcs, halves ? all & ~low : all);
        };
        ranges(0, 0, network.vcs);
        ranges(1, network.vcs, network.control_vcs);
        Clocked::reset();
    }

    void step(const hw::flit::RouterInputs& in) override {
        top_.flit_valid_i = 0;
        top_.credit_valid_i = 0;
        for (unsigned p = 0; p < ports_; ++p) {
            if (in.flits[p].valid) write_flit(p, in.flits[p]);
            if (in.credits[p] == hw::flit::kNoCredit) continue;
            set_bits(top_.credit_valid_i, p, 1, 1);
            set_bits(top_.credit_vc_i, p * shape_.vc_width(), shape_.vc_width(), in.credits[p]);
        }
        Clocked::settle();
        Clocked::clock();
        for (unsigned p = 0; p < ports_; ++p) {
            out_.flits[p] = bits_of(top_.flit_valid_o, p, 1) != 0 ? read_flit(p) : hw::flit::PinFlit{};
            out_.credits[p] =
                bits_of(top_.credit_valid_o, p, 1) == 0
                    ? hw::flit::kNoCredit
                    : static_cast<std::uint8_t>(bits_of(top_.credit_vc_o, p * shape_.vc_width(), shape_.vc_width()));
        }
    }
    const hw::flit::RouterOutputs& out() const override { return out_; }
    bool busy() const override { return top_.busy_o; }
    std::string evidence() override { return Clocked::evidence(); }

    hw::flit::RouterState state() const override {
        hw::flit::RouterState state;
        state.routing = mask(top_.routing_o);
        state.vc_alloc = mask(top_.vc_alloc_o);
        state.vc_wait = mask(top_.vc_wait_o);
        state.switch_alloc = mask(top_.switch_alloc_o);
        state.switch_wait = mask(top_.switch_wait_o);
        state.copying = mask(top_.copying_o);
        state.free_vcs = mask(top_.free_o);
        const unsigned count = shape_.count_width(), index = shape_.index_width(), port = shape_.port_width();
        for (unsigned p = 0; p < ports_; ++p) {
            for (unsigned v = 0; v < network_.all_vcs(); ++v) {
                const unsigned i = p * shape_.vcs + v;
                state.held.push_back(static_cast<std::uint16_t>(bits_of(top_.held_o, i * count, count)));
                state.credits.push_back(static_cast<std::uint16_t>(bits_of(top_.credits_o, i * count, count)));
                state.vc_grant_pointer.push_back(vc_pointer(bits_of(top_.vc_grant_pointers_o, i * index, index)));
                state.vc_accept_pointer.push_back(vc_pointer(bits_of(top_.vc_accept_pointers_o, i * index, index)));
            }
            state.switch_grant_pointer.push_back(
                pointer(bits_of(top_.switch_grant_pointers_o, p * port, port), ports_));
            state.switch_accept_pointer.push_back(
                pointer(bits_of(top_.switch_accept_pointers_o, p * port, port), ports_));
            const unsigned vc = shape_.vc_width();
            state.switch_turn.push_back(pointer(bits_of(top_.switch_turns_o, p * vc, vc), network_.all_vcs()));
        }
        return state;
    }

private:
    // The model may have more VCs and ports than the network: those are never used, and a pointer at one of them is a
    // pointer at the next one that is.
    static std::uint8_t pointer(std::uint64_t value, unsigned used) {
        return static_cast<std::uint8_t>(value < used ? value : 0);
    }
    std::uint8_t vc_pointer(std::uint64_t value) const {
        const unsigned vcs = network_.all_vcs();
        auto port = static_cast<unsigned>(value / shape_.vcs), vc = static_cast<unsigned>(value % shape_.vcs);
        if (vc >= vcs) {
            ++port;
            vc = 0;
        }
        return static_cast<std::uint8_t>(port < ports_ ? port * vcs + vc : 0);
    }
    template <class Pin>
    std::uint64_t mask(const Pin& pin) const {
        std::uint64_t packed = 0;
        const unsigned vcs = network_.all_vcs();
        for (unsigned p = 0; p < ports_; ++p) packed |= bits_of(pin, p * shape_.vcs, vcs) << p * vcs;
        return packed;
    }

    void write_flit(unsigned port, const hw::flit::PinFlit& flit) {
        set_bits(top_.flit_valid_i, port, 1, 1);
        set_bits(top_.flit_vc_i, port * shape_.vc_width(), shape_.vc_width(), flit.vc);
        const unsigned base = port * shape_.flit_bits();
        for (unsigned at = 0; at < shape_.flit_bits(); at += 32)
            set_bits(top_.flit_i, base + at, std::min(32u, shape_.flit_bits() - at), 0);
        set_bits(top_.flit_i, base, 2, (flit.head ? 1u : 0u) | (flit.tail ? 2u : 0u));
        set_bits(top_.flit_i, base + shape_.payload_at(), RouterShape::kPayloadBits, flit.packet);
        if (!flit.head) return;
        for (const hw::flit::PinDestination& to : flit.destinations) {
            set_bits(top_.flit_i, base + 2 + (to.y * shape_.columns + to.x) * shape_.locals() + to.local, 1, 1);
            if (to.to_west) set_bits(top_.flit_i, base + shape_.to_west_at() + to.x, 1, 1);
            if (to.x_crosses) set_bits(top_.flit_i, base + shape_.x_crosses_at() + to.x, 1, 1);
            if (to.to_north) set_bits(top_.flit_i, base + shape_.to_north_at() + to.y, 1, 1);
            if (to.y_crosses) set_bits(top_.flit_i, base + shape_.y_crosses_at() + to.y, 1, 1);
        }
        set_bits(top_.flit_i, base + shape_.length_at(), shape_.count_width(), flit.flits);
        set_bits(top_.flit_i, base + shape_.multicast_at(), 1, flit.multicast);
        set_bits(top_.flit_i, base + shape_.control_at(), 1, flit.control);
    }
    hw::flit::PinFlit read_flit(unsigned port) const {
        hw::flit::PinFlit flit;
        const unsigned base = port * shape_.flit_bits();
        const auto bit = [&](unsigned at) { return bits_of(top_.flit_o, base + at, 1) != 0; };
        flit.valid = true;
        flit.vc = static_cast<std::uint8_t>(bits_of(top_.flit_vc_o, port * shape_.vc_width(), shape_.vc_width()));
        flit.head = bit(0);
        flit.tail = bit(1);
        flit.packet =
            static_cast<std::uint32_t>(bits_of(top_.flit_o, base + shape_.payload_at(), RouterShape::kPayloadBits));
        if (!flit.head) return flit;
        flit.control = bit(shape_.control_at());
        flit.multicast = bit(shape_.multicast_at());
        flit.flits = static_cast<std::uint16_t>(bits_of(top_.flit_o, base + shape_.length_at(), shape_.count_width()));
        for (unsigned y = 0; y < shape_.rows; ++y)
            for (unsigned x = 0; x < shape_.columns; ++x)
                for (unsigned l = 0; l < shape_.locals(); ++l) {
                    if (!bit(2 + (y * shape_.columns + x) * shape_.locals() + l)) continue;
                    hw::flit::PinDestination to;
                    to.x = static_cast<std::uint8_t>(x);
                    to.y = static_cast<std::uint8_t>(y);
                    to.local = static_cast<std::uint8_t>(l);
                    to.to_west = bit(shape_.to_west_at() + x);
                    to.x_crosses = bit(shape_.x_crosses_at() + x);
                    to.to_north = bit(shape_.to_north_at() + y);
                    to.y_crosses = bit(shape_.y_crosses_at() + y);
                    flit.destinations.push_back(to);
                }
        return flit;
    }

    RouterShape shape_;
    hw::flit::Config network_;
    unsigned ports_;
    hw::flit::RouterOutputs out_;
};

}  // namespace switchyard::rtl
