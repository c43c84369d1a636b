// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/testbenches/cosim/router/traffic_bench.h"

namespace switchyard::testing {

/// The buffers of a router of a mesh with `network`'s columns, rows, VCs and buffers, and one cycle a stage or
/// look-ahead, at its pins and without a model: for every input VC and output, before any credit it takes a packet's
/// flits until the slots behind its output and its own are all full, and then one more for each credit; with credits
/// it sends one in each cycle as long as no credit takes longer than the slots last, on either side, and the fraction
/// of the slots beyond. "" or the first that does not hold.
std::string buffer_difference(const hw::flit::Config& network, const MakeRouter& make);

}  // namespace switchyard::testing
