// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::hw {

/// Numbers from a seed, the same on every machine: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        state_ += 0x9E3779B97F4A7C15;
        std::uint64_t z = state_;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    /// 0 to n - 1; n < 2^32.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((*this)() >> 32) * n >> 32); }

private:
    std::uint64_t state_;
};

/// Synthetic traffic on a grid of `columns` x `rows` nodes: every node begins a packet in a cycle with the probability
/// rate / packet_flits (a Bernoulli process, as BookSim 2's default), to a node that the pattern names.
///
/// uniform: any node, the sender among them, as in BookSim 2. transpose: (x, y) to (y, x). bitcomp: to the opposite
/// node (columns - 1 - x, rows - 1 - y), which is the complement of the bits where sizes are powers of two. bitrev: to
/// the node whose number has the bits in reverse. shuffle: to the number rotated left by a bit. tornado: (x + columns /
/// 2 - 1, y + rows / 2 - 1), halves rounded up. neighbour: (x + 1, y + 1), round the edges. hotspot: one packet in five
/// to the node in the middle, the others uniform.
class SyntheticTraffic {
public:
    /// `rate`: flits a node and cycle. Throws std::invalid_argument: unknown pattern, transpose that is not square,
    /// bitrev and shuffle whose nodes are not a power of two, a rate that asks for more than a packet a cycle or for
    /// less than one in 2^64 cycles.
    SyntheticTraffic(const std::string& pattern, unsigned columns, unsigned rows, double rate, unsigned packet_flits,
                     std::uint64_t seed);

    /// Calls send(source, destination) for the packets of one cycle, sources rising.
    template <class Send>
    void cycle(Send&& send) {
        for (unsigned source = 0; source < nodes_; ++source)
            if (const std::uint64_t draw = random_(); sends_ && draw <= largest_) send(source, destination(source));
    }
    unsigned destination(unsigned source);

    static const std::vector<std::string>& patterns();

private:
    enum class Pattern { uniform, transpose, bitcomp, bitrev, shuffle, tornado, neighbour, hotspot };

    Pattern pattern_;
    unsigned columns_, rows_, nodes_;
    bool sends_ = false;
    std::uint64_t largest_ = 0;
    SplitMix64 random_;
};

}  // namespace switchyard::hw
