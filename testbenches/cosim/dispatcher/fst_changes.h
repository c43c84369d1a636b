// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include <gtkwave/fstapi.h>

namespace switchyard::testing {

/// Value changes in an FST file by signal, the values at its beginning not counted. Throws std::runtime_error if it is
/// none.
inline std::map<std::string, std::uint64_t> fst_changes(const std::string& path) {
    void* reader = fstReaderOpen(path.c_str());
    if (reader == nullptr) throw std::runtime_error(path + " is not an FST file");
    struct Counts {
        std::map<fstHandle, std::uint64_t> of;
        std::uint64_t begin = 0;
    } counts;
    counts.begin = fstReaderGetStartTime(reader);
    fstReaderSetFacProcessMaskAll(reader);
    fstReaderIterBlocks(
        reader,
        [](void* user, std::uint64_t time, fstHandle signal, const unsigned char*) {
            auto& all = *static_cast<Counts*>(user);
            if (time > all.begin) ++all.of[signal];
        },
        &counts, nullptr);
    std::map<std::string, std::uint64_t> changes;
    while (const fstHier* item = fstReaderIterateHier(reader)) {
        if (item->htyp == FST_HT_VAR) changes[item->u.var.name] += counts.of[item->u.var.handle];
    }
    fstReaderClose(reader);
    return changes;
}

}  // namespace switchyard::testing
