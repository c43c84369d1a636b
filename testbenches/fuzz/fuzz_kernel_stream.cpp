// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/workload/kernel_stream.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    fuzz::try_reading([&] { sched::load_kernel_stream(file.path()); });
    return 0;
}
