// SPDX-License-Identifier: Apache-2.0
#include "fuzz_input.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/profile.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const sched::Model kModel = sched::read_model("testbenches/data/fig6.yaml");
    fuzz::try_reading([&] { sched::parse_profile(fuzz::text_of(data, size), "profile", kModel.graph); });
    return 0;
}
