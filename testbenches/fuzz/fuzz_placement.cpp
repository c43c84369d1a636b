// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/brainstorm/router_placement.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    fuzz::try_reading([&] { sched::brainstorm::read_placement(file.path(), {{"a", 4}, {"b", 8}}, 2); });
    return 0;
}
