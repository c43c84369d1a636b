// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/address_map.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard {
namespace {

std::string text(const AddressMap::Range& range) {
    return fmt::format("'{}' [{:#x}, {:#x}]", range.name, range.begin, range.last());
}

}  // namespace

void AddressMap::add(Range range) {
    if (range.bytes == 0)
        throw InputError(fmt::format("address map: range '{}': expected one byte or more, found none", range.name));
    if (range.bytes - 1 > std::numeric_limits<std::uint64_t>::max() - range.begin) {
        throw InputError(fmt::format(
            "address map: range '{}': expected an end within 64 bits of address, found {:#x} bytes at {:#x}",
            range.name, range.bytes, range.begin));
    }
    const auto next = std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                                       [](const Range& r, std::uint64_t begin) { return r.begin < begin; });
    const Range* clash = nullptr;
    if (next != ranges_.end() && next->begin <= range.last()) clash = &*next;
    if (next != ranges_.begin() && std::prev(next)->last() >= range.begin) clash = &*std::prev(next);
    if (clash)
        throw InputError(fmt::format("address map: expected ranges that do not overlap, found {} and {}", text(*clash),
                                     text(range)));
    ranges_.insert(next, std::move(range));
}

const AddressMap::Range* AddressMap::find(std::uint64_t address, std::uint64_t bytes) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                        [](std::uint64_t a, const Range& r) { return a < r.begin; });
    if (after == ranges_.begin()) return nullptr;
    const Range& range = *std::prev(after);
    const bool holds = range.contains(address) && bytes <= range.bytes - (address - range.begin);
    return holds ? &range : nullptr;
}

std::string AddressMap::describe(std::uint64_t address) const {
    if (const Range* const range = find(address)) return fmt::format("{:#x} is in {}", address, text(*range));
    const auto next = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.begin > address; });
    std::string where = fmt::format("{:#x} is in a hole", address);
    if (next != ranges_.begin()) where += " after " + text(*std::prev(next));
    if (next != ranges_.end()) where += " before " + text(*next);
    return where;
}

}  // namespace switchyard
