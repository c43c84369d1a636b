// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/chip/platform_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace switchyard::platform {

using nlohmann::ordered_json;

ordered_json platform_json(const PlatformConfig& p) {
    return {{"name", p.chip.name},
            {"fingerprint", fmt::format("{:016x}", make_hardware_description(p).fingerprint())},
            {"columns", p.chip.columns},
            {"rows", p.chip.rows},
            {"pe_rows", p.pe_array.rows},
            {"pe_columns", p.pe_array.columns},
            {"clock_ghz", p.chip.clock_ghz},
            {"scratchpad_bytes", p.scratchpad.capacity_bytes},
            {"hbm_gb_per_s", p.hbm.interfaces() * p.hbm.peak_bytes_per_cycle() * p.chip.clock_ghz},
            {"link_bytes_per_cycle", p.noc.link_bytes_per_cycle}};
}

}  // namespace switchyard::platform
