// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include "fuzz_input.h"

#include "switchyard/sw_scheduler/base/json_text.h"

using namespace switchyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::try_reading([&] {
        const nlohmann::json document = parse_json(fuzz::text_of(data, size), "json");
        const nlohmann::json copy = document;
        json_text(copy, 1);
    });
    return 0;
}
