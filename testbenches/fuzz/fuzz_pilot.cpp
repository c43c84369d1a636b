// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot_features.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    fuzz::try_reading([&] { dynn_offload::Pilot::read(file.path()); });
    fuzz::try_reading([&] { dynn_offload::read_trace(file.path()); });
    return 0;
}
