// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/workload/trace.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    const std::vector<SwitchSignature> switches{{"a", 2, -1, 0, true}, {"b", 3, 0, 1, false}};
    fuzz::try_reading([&] { read_trace(file.path(), switches, 4); });
    return 0;
}
