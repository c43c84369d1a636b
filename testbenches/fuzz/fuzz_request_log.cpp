// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/platform/characterisation/memory_traffic.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    static const hw::dram::Device kDevice = hw::dram::read_device("ddr4");
    platform::MemoryTraffic traffic;
    traffic.pattern = "trace";
    traffic.trace = file.path();
    fuzz::try_reading([&] { platform::MemoryTrafficSource(traffic, kDevice); });
    return 0;
}
