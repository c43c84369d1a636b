// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "switchyard/hw/noc/flit/masks.h"

namespace switchyard::hw::flit {

/// Whom the switch allocator has served last at a port of a router: its turns begin behind them.
struct SwitchTurns {
    std::uint8_t granted = 0;   ///< input port, as an output
    std::uint8_t accepted = 0;  ///< output port, as an input
    std::uint8_t passed = 0;    ///< VC of this input, with its router's number
};

/// Who passes a router's switch among VCs that come from the same input port or want the same output port: iSLIP. Of
/// the VCs of an input that want an output one asks for it, every output grants an input, every input accepts one of
/// the outputs; further iterations match what is still free. In each of the three the VC whose packet was sent first
/// is chosen with `oldest_first`, and turns decide between those of one cycle; else turns decide alone.
class SwitchMatching {
public:
    struct Rival {
        std::uint64_t sent;    ///< cycle in which its packet was sent
        std::uint64_t wanted;  ///< output ports, a bit each; several for a multicast
        unsigned vc, input;    ///< its number at the router, which rises with that of its port
    };

    SwitchMatching(bool oldest_first, unsigned iterations) : oldest_first_(oldest_first), iterations_(iterations) {}

    /// Which one passes of two in each other's way that want one output each: the other one finds nothing free. `a`
    /// has the lower number.
    const Rival& first_of(const SwitchTurns* turns, const Rival& a, const Rival& b) const;
    /// At most 64 since the last match(), with rising numbers; each is in the way of another one.
    void add(const Rival& rival) { rivals_[count_++] = rival; }
    bool empty() const { return count_ == 0; }
    /// Calls pass(vc, accepted, granted, first) for each VC that passes: one output port that its input accepts, all
    /// those granted to it, and whether it is the first iteration, the only one that moves turns. pass() returns the
    /// outputs that are taken, `accepted` among them. `turns`: of the router, by port.
    template <class Pass>
    void match(const SwitchTurns* turns, Pass&& pass);
    /// The same, always by masks of ports: what the shorter ways of match() are compared with.
    template <class Pass>
    void match_ports(const SwitchTurns* turns, Pass&& pass);

private:
    static bool single(std::uint64_t mask) { return (mask & (mask - 1)) == 0; }
    bool yields(const SwitchTurns* turns, const Rival& rival, const Rival& other) const;
    bool sort_by_age(const SwitchTurns* turns);
    template <class Pass>
    void match_by_age(const SwitchTurns* turns, Pass&& pass);
    template <class Pass>
    std::uint64_t accept_oldest(const SwitchTurns* turns, unsigned i, std::uint64_t outputs, bool first, Pass&& pass);
    void ask(const SwitchTurns* turns);
    template <class Pass>
    void iterate(const SwitchTurns* turns, bool first, Pass&& pass);

    bool oldest_first_;
    unsigned iterations_;
    unsigned count_ = 0;
    Rival rivals_[64] = {};
    // By input port, for match_ports().
    std::uint64_t asking_ = 0;          ///< inputs
    std::uint64_t requests_[64] = {};   ///< output ports
    std::uint64_t grants_[64] = {};     ///< output ports
    std::uint8_t chosen_[64][64] = {};  ///< by output port: number in rivals_
};

/// Whether `rival` does not ask for an output that `other` of its input wants, too.
inline bool SwitchMatching::yields(const SwitchTurns* turns, const Rival& rival, const Rival& other) const {
    if (oldest_first_ && rival.sent != other.sent) return rival.sent > other.sent;
    // The next one behind the turn goes first.
    const unsigned passed = turns[rival.input].passed;
    return (rival.vc <= passed) != (other.vc <= passed) ? rival.vc <= passed : rival.vc > other.vc;
}

template <class Pass>
void SwitchMatching::match(const SwitchTurns* turns, Pass&& pass) {
    if (count_ == 2 && single(rivals_[0].wanted) && single(rivals_[1].wanted)) {
        const Rival& rival = first_of(turns, rivals_[0], rivals_[1]);
        pass(rival.vc, static_cast<unsigned>(__builtin_ctzll(rival.wanted)), rival.wanted, true);
    } else if (oldest_first_ && sort_by_age(turns)) {
        match_by_age(turns, pass);
    } else {
        match_ports(turns, pass);
    }
    count_ = 0;
}

inline const SwitchMatching::Rival& SwitchMatching::first_of(const SwitchTurns* turns, const Rival& a,
                                                             const Rival& b) const {
    if (oldest_first_ && a.sent != b.sent) return a.sent < b.sent ? a : b;
    const auto output = static_cast<unsigned>(__builtin_ctzll(a.wanted));
    if (a.input != b.input) return first_behind(bit(a.input) | bit(b.input), turns[output].granted) == a.input ? a : b;
    if (a.wanted != b.wanted) return first_behind(a.wanted | b.wanted, turns[a.input].accepted) == output ? a : b;
    return yields(turns, a, b) ? b : a;
}

/// The oldest first; those of one input and age stand side by side, in their turns. False if that is no order, since
/// VCs of several inputs want an output with packets of the same cycle.
inline bool SwitchMatching::sort_by_age(const SwitchTurns* turns) {
    for (unsigned i = 1; i < count_; ++i) {
        for (unsigned k = 0; k < i; ++k)
            if (rivals_[k].sent == rivals_[i].sent && rivals_[k].input != rivals_[i].input &&
                (rivals_[k].wanted & rivals_[i].wanted) != 0)
                return false;
    }
    for (unsigned i = 1; i < count_; ++i) {
        const Rival rival = rivals_[i];
        unsigned at = i;
        for (; at > 0; --at) {
            const Rival& other = rivals_[at - 1];
            if (other.sent < rival.sent) break;
            if (other.sent == rival.sent && (other.input != rival.input || yields(turns, rival, other))) break;
            rivals_[at] = other;
        }
        rivals_[at] = rival;
    }
    return true;
}

/// Every output grants the oldest VC that wants it, every input accepts what its oldest one gets.
template <class Pass>
void SwitchMatching::match_by_age(const SwitchTurns* turns, Pass&& pass) {
    // An output that two VCs of one input want is asked for by the first of them alone, in every iteration.
    for (unsigned i = 1; i < count_; ++i)
        for (unsigned k = 0; k < i; ++k)
            if (rivals_[k].input == rivals_[i].input) rivals_[i].wanted &= ~rivals_[k].wanted;

    std::uint64_t matched_inputs = 0, matched_outputs = 0;
    for (unsigned iteration = 0; iteration < iterations_; ++iteration) {
        const std::uint64_t matched_before = matched_inputs;
        std::uint64_t granted = matched_outputs, left = 0;
        for (unsigned i = 0; i < count_; ++i) {
            const Rival& rival = rivals_[i];
            if ((matched_before >> rival.input & 1) != 0) continue;
            const std::uint64_t free = ~granted;
            granted |= rival.wanted;
            if ((matched_inputs >> rival.input & 1) != 0) continue;
            if ((rival.wanted & free) == 0) {
                left |= rival.wanted;
                continue;
            }
            matched_inputs |= bit(rival.input);
            matched_outputs |= accept_oldest(turns, i, free, iteration == 0, pass);
        }
        if ((left & ~matched_outputs) == 0) return;
    }
}

/// The input of rival `i`, the oldest one that is granted one of `outputs`, accepts; of several as old the first output
/// behind its turn. The outputs that are taken.
template <class Pass>
std::uint64_t SwitchMatching::accept_oldest(const SwitchTurns* turns, unsigned i, std::uint64_t outputs, bool first,
                                            Pass&& pass) {
    const Rival& oldest = rivals_[i];
    std::uint64_t grants = 0;
    for (unsigned k = i; k < count_ && rivals_[k].sent == oldest.sent && rivals_[k].input == oldest.input; ++k)
        grants |= rivals_[k].wanted & outputs;
    const unsigned accepted = first_behind(grants, turns[oldest.input].accepted);
    while ((rivals_[i].wanted >> accepted & 1) == 0) ++i;
    return pass(rivals_[i].vc, accepted, rivals_[i].wanted & outputs, first);
}

template <class Pass>
void SwitchMatching::match_ports(const SwitchTurns* turns, Pass&& pass) {
    ask(turns);
    for (unsigned iteration = 0; asking_ != 0 && iteration < iterations_; ++iteration)
        iterate(turns, iteration == 0, pass);
    count_ = 0;
}

inline void SwitchMatching::ask(const SwitchTurns* turns) {
    asking_ = 0;
    for (unsigned i = 0; i < count_; ++i) {
        const Rival& rival = rivals_[i];
        if ((asking_ >> rival.input & 1) == 0) requests_[rival.input] = 0;
        asking_ |= bit(rival.input);
        for (std::uint64_t outputs = rival.wanted; outputs != 0;) {
            const unsigned output = take_first(outputs);
            const bool another = (requests_[rival.input] >> output & 1) != 0;  // VC of this input asks already
            std::uint8_t& chosen = chosen_[rival.input][output];
            if (!another || !yields(turns, rival, rivals_[chosen])) chosen = static_cast<std::uint8_t>(i);
        }
        requests_[rival.input] |= rival.wanted;
    }
}

/// What is matched asks no more.
template <class Pass>
void SwitchMatching::iterate(const SwitchTurns* turns, bool first, Pass&& pass) {
    const auto choose = [&](std::uint64_t mask, unsigned last, auto&& number_of) {
        if (single(mask)) return static_cast<unsigned>(__builtin_ctzll(mask));
        if (!oldest_first_) return first_behind(mask, last);
        return min_behind(mask, last, [&](unsigned i) { return rivals_[number_of(i)].sent; });
    };
    std::uint64_t requested = 0, contested = 0;
    for (std::uint64_t mask = asking_; mask != 0;) {
        const unsigned input = take_first(mask);
        grants_[input] = requests_[input];
        contested |= requested & requests_[input];
        requested |= requests_[input];
    }
    leave_to_one(grants_, asking_, contested, [&](unsigned output, std::uint64_t inputs) {
        return choose(inputs, turns[output].granted, [&](unsigned i) { return chosen_[i][output]; });
    });

    std::uint64_t matched_inputs = 0, matched_outputs = 0;
    for (std::uint64_t mask = asking_; mask != 0;) {
        const unsigned input = take_first(mask);
        const std::uint64_t grants = grants_[input];
        if (grants == 0) continue;
        const unsigned accepted = choose(grants, turns[input].accepted, [&](unsigned o) { return chosen_[input][o]; });
        const unsigned number = chosen_[input][accepted];
        std::uint64_t for_vc = 0;
        for (std::uint64_t outputs = grants; outputs != 0;) {
            const unsigned output = take_first(outputs);
            if (chosen_[input][output] == number) for_vc |= bit(output);
        }
        matched_inputs |= bit(input);
        matched_outputs |= pass(rivals_[number].vc, accepted, for_vc, first);
    }
    asking_ &= ~matched_inputs;
    for (std::uint64_t mask = asking_; mask != 0;) {
        const unsigned input = take_first(mask);
        requests_[input] &= ~matched_outputs;
        if (requests_[input] == 0) asking_ &= ~bit(input);
    }
}

}  // namespace switchyard::hw::flit
