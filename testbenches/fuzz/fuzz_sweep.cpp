// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/platform/experiment/sweep.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    fuzz::try_reading([&] { platform::points_of(platform::read_sweep(file.path())); });
    return 0;
}
