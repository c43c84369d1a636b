// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/collectives/link_topology.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::try_reading([&] { sched::parse_link_topology(fuzz::text_of(data, size), "topology"); });
    return 0;
}
