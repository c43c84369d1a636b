// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/adyna/compiler/stage.h"

namespace switchyard::sched {

/// How an operator is spread over its tiles.
struct Spread {
    const OperatorShape& shape;
    Partition partition;
    unsigned k_factor = 1;
};

/// Packets that a micro-batch takes from the tiles of one operator to those of another: one a pair of ranks whose
/// boxes overlap, for data and for its acknowledge; tiles that need the same bytes get one packet (multicast).
std::uint64_t packets_between(const Source& source, const Spread& producer, const Spread& consumer);

/// Packets that a micro-batch takes from HBM: one a set of tiles that need the same bytes, and a probe and an
/// acknowledge for each of them that reads along.
std::uint64_t packets_from_memory(const Source& source, const Spread& consumer);

/// Packets that a micro-batch takes to HBM and back: a request and its answer a rank.
std::uint64_t packets_to_memory(const Spread& producer);

}  // namespace switchyard::sched
