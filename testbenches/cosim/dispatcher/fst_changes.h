// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

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

/// The value of `signal`, as digits, at each rising edge of `clock` before which it has settled. Signals of the top.
inline std::vector<std::string> fst_samples(const std::string& path, const std::string& signal,
                                            const std::string& clock) {
    void* reader = fstReaderOpen(path.c_str());
    if (reader == nullptr) throw std::runtime_error(path + " is not an FST file");
    struct State {
        fstHandle signal = 0, clock = 0;
        std::string value, before;  // before: at times less than that of the last change
        std::uint64_t changed = 0;
        bool high = true;  // what the file begins with is no edge
        std::vector<std::string> samples;
    } state;
    while (const fstHier* item = fstReaderIterateHier(reader)) {
        if (item->htyp != FST_HT_VAR) continue;
        if (state.signal == 0 && item->u.var.name == signal) state.signal = item->u.var.handle;
        if (state.clock == 0 && item->u.var.name == clock) state.clock = item->u.var.handle;
    }
    fstReaderSetFacProcessMask(reader, state.signal);
    fstReaderSetFacProcessMask(reader, state.clock);
    fstReaderIterBlocks(
        reader,
        [](void* user, std::uint64_t time, fstHandle changed, const unsigned char* value) {
            auto& all = *static_cast<State*>(user);
            const std::string text = reinterpret_cast<const char*>(value);
            if (changed == all.clock) {
                if (text == "1" && !all.high) all.samples.push_back(all.changed == time ? all.before : all.value);
                all.high = text == "1";
            } else {
                all.before = all.value;
                all.value = text;
                all.changed = time;
            }
        },
        &state, nullptr);
    fstReaderClose(reader);
    return state.samples;
}

}  // namespace switchyard::testing
