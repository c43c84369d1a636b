// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/noc/traffic.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config_check.h"

namespace switchyard::hw {

const std::vector<std::string>& SyntheticTraffic::patterns() {
    static const std::vector<std::string> kNames{"uniform", "transpose", "bitcomp",   "bitrev",
                                                 "shuffle", "tornado",   "neighbour", "hotspot"};
    return kNames;
}

SyntheticTraffic::SyntheticTraffic(const std::string& pattern, unsigned columns, unsigned rows, double rate,
                                   unsigned packet_flits, std::uint64_t seed)
    : pattern_(), columns_(columns), rows_(rows), nodes_(columns * rows), random_(seed) {
    const auto known = std::find(patterns().begin(), patterns().end(), pattern);
    if (known == patterns().end()) throw std::invalid_argument(not_among("traffic", patterns(), pattern));
    pattern_ = static_cast<Pattern>(known - patterns().begin());
    if (pattern_ == Pattern::transpose && columns != rows)
        throw std::invalid_argument(
            fmt::format("transpose: expected as many columns as rows, found {} x {}", columns, rows));
    if ((pattern_ == Pattern::bitrev || pattern_ == Pattern::shuffle) && (nodes_ & (nodes_ - 1)) != 0)
        throw std::invalid_argument(fmt::format("{}: expected a power of two of nodes, found {}", pattern, nodes_));
    const double packets = rate / packet_flits;
    if (!(packets >= 0 && packets <= 1))
        throw std::invalid_argument(
            fmt::format("rate: expected 0 to {} flits a cycle, which is a packet, found {}", packet_flits, rate));
    // Draws up to largest_ begin a packet: a share of 2^64 draws.
    const double draws = packets * 0x1p64;
    if (packets > 0 && draws < 1)
        throw std::invalid_argument(fmt::format(
            "rate: expected a packet a node in 2^64 cycles or more, found {} flits a cycle; take a higher rate, or 0",
            rate));
    sends_ = packets > 0;
    largest_ = packets == 1 ? ~std::uint64_t{0} : sends_ ? static_cast<std::uint64_t>(draws) - 1 : 0;
}

unsigned SyntheticTraffic::destination(unsigned source) {
    const unsigned x = source % columns_, y = source / columns_;
    switch (pattern_) {
        case Pattern::transpose:
            return x * columns_ + y;
        case Pattern::bitcomp:
            return (rows_ - 1 - y) * columns_ + (columns_ - 1 - x);
        case Pattern::bitrev: {
            unsigned reversed = 0;
            for (unsigned bit = 1; bit < nodes_; bit *= 2) reversed = 2 * reversed + ((source & bit) != 0 ? 1 : 0);
            return reversed;
        }
        case Pattern::shuffle:
            return 2 * source % nodes_ + 2 * source / nodes_;
        case Pattern::tornado:
            return (y + (rows_ + 1) / 2 - 1) % rows_ * columns_ + (x + (columns_ + 1) / 2 - 1) % columns_;
        case Pattern::neighbour:
            return (y + 1) % rows_ * columns_ + (x + 1) % columns_;
        case Pattern::hotspot:
            if (random_.below(5) == 0) return rows_ / 2 * columns_ + columns_ / 2;
            break;
        case Pattern::uniform:
            break;
    }
    return random_.below(nodes_);
}

}  // namespace switchyard::hw
