// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/platform/system/npy.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    fuzz::try_reading([&] { platform::read_npy(file.path()); });
    fuzz::try_reading([&] { platform::read_int8_npy(file.path()); });
    fuzz::try_reading([&] { platform::read_int32_npy(file.path()); });
    return 0;
}
