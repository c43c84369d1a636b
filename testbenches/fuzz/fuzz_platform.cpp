// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/hw/memory/dram/device.h"
#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/platform/gpu/gpu_platform.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    fuzz::try_reading([&] { platform::read_platform(file.path(), {}); });
    fuzz::try_reading([&] { platform::read_gpu_platform(file.path()); });
    fuzz::try_reading([&] { hw::dram::read_device(file.path(), {}); });
    return 0;
}
