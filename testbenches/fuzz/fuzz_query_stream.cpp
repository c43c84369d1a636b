// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/workload/query_stream.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    sched::QueryStreamConfig config;
    config.kind = "trace";
    config.trace = file.path();
    fuzz::try_reading([&] { sched::make_query_stream(config, {}); });
    return 0;
}
