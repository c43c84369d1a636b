// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/sushi/latency_table.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const fuzz::MemoryFile file(data, size);
    static const sched::sushi::Supernet kSupernet =
        sched::sushi::read_supernet("configs/workloads/sushi/digits_supernet.yaml");
    fuzz::try_reading([&] { sched::sushi::read_table(file.path(), kSupernet, ""); });
    return 0;
}
