// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/collectives/program.h"

#include <fmt/format.h>

namespace switchyard::sched {

std::string validation_error(const CollectiveProgram& program) {
    for (std::size_t i = 0; i < program.transfers.size(); ++i) {
        const Transfer& t = program.transfers[i];
        const auto wrong = [&](const char* what) { return fmt::format("{}: transfer {}: {}", program.name, i, what); };
        const auto fits = [&](std::uint64_t offset) {
            return offset <= program.buffer_bytes && t.bytes <= program.buffer_bytes - offset;
        };
        if (t.from >= program.devices || t.to >= program.devices) return wrong("an unknown device");
        if (t.bytes == 0) return wrong("no bytes");
        if (!fits(t.source) || !fits(t.destination) || (t.reduce && !fits(t.staging)))
            return wrong("beyond the buffer");
        if (t.reduce && t.bytes % 4 != 0) return wrong("a sum of what is no binary32");
        for (const std::uint32_t earlier : t.after)
            if (earlier >= i) return wrong("it waits for a later one");
    }
    return "";
}

}  // namespace switchyard::sched
