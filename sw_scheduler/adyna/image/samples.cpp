// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/image/samples.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/bytes.h"

namespace switchyard {

namespace {

constexpr std::uint32_t kWithPartners = 0x80000000;  ///< bit of a stored index list's depth

/// What is wrong with the ids of a set; "" if they rise.
std::string order_error(const std::vector<std::uint32_t>& ids) {
    const auto found = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
    return found == ids.end()
               ? ""
               : fmt::format("expected ids in strictly rising order, found {} before {}", *found, *(found + 1));
}

}  // namespace

SampleSet::SampleSet(std::vector<std::uint32_t> ids) : ids_(std::move(ids)) {
    if (const std::string wrong = order_error(ids_); !wrong.empty()) throw std::invalid_argument("SampleSet: " + wrong);
}

SampleSet SampleSet::range(std::uint32_t first, std::uint32_t last) {
    SampleSet set;
    if (first < last) set.ids_.resize(last - first);
    std::iota(set.ids_.begin(), set.ids_.end(), first);
    return set;
}

bool SampleSet::contains(std::uint32_t id) const {
    const std::size_t index = index_of(id);
    return index < ids_.size() && ids_[index] == id;
}

std::size_t SampleSet::index_of(std::uint32_t id) const {
    if (ids_.empty() || id <= ids_.front()) return 0;
    if (id > ids_.back()) return ids_.size();
    // Static operators see gapless sets, by far the most frequent case.
    if (ids_.back() - ids_.front() == ids_.size() - 1) return id - ids_.front();
    return static_cast<std::size_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
}

SampleSet SampleSet::united(const SampleSet& other) const {
    SampleSet result;
    result.ids_.reserve(ids_.size() + other.ids_.size());
    std::set_union(ids_.begin(), ids_.end(), other.ids_.begin(), other.ids_.end(), std::back_inserter(result.ids_));
    return result;
}

const SampleIndexList& popped(const SampleIndexList& index_list, unsigned levels) {
    const SampleIndexList* result = &index_list;
    for (unsigned level = 0; level < levels; ++level) {
        if (!result->outer)
            throw std::out_of_range(fmt::format("popped: expected {} outer index lists, found {}", levels, level));
        result = result->outer.get();
    }
    return *result;
}

std::vector<std::uint8_t> serialise(const SampleIndexList& index_list) {
    std::uint32_t depth = 0;
    bool partners = false;
    for (const SampleIndexList* f = &index_list; f; f = f->outer.get()) {
        ++depth;
        partners = partners || !f->partner.empty();
    }
    ByteWriter writer;
    writer(partners ? depth | kWithPartners : depth);
    for (const SampleIndexList* f = &index_list; f; f = f->outer.get()) {
        writer(f->samples.ids());
        if (partners) writer(f->partner.ids());
    }
    return writer.take();
}

SampleIndexListPtr deserialise_index_list(const std::uint8_t* bytes, std::size_t size) {
    ByteReader reader(bytes, size);
    const auto head = reader.get<std::uint32_t>();
    const bool partners = (head & kWithPartners) != 0;
    const std::uint32_t depth = head & ~kWithPartners;
    // Each index list takes at least its count.
    const std::size_t deepest = reader.remaining() / sizeof(std::uint32_t);
    if (depth == 0 || depth > deepest)
        reader.fail(fmt::format("sample-index list: expected a depth of 1 to {}, found {}", deepest, depth));
    const auto read_set = [&reader] {
        std::vector<std::uint32_t> ids;
        reader(ids);
        if (const std::string wrong = order_error(ids); !wrong.empty()) reader.fail("sample-index list: " + wrong);
        return SampleSet(std::move(ids));
    };
    std::vector<SampleIndexList> index_lists(depth);
    for (SampleIndexList& index_list : index_lists) {
        index_list.samples = read_set();
        if (partners) index_list.partner = read_set();
    }
    SampleIndexListPtr outer;
    for (auto index_list = index_lists.rbegin(); index_list != index_lists.rend(); ++index_list) {
        index_list->outer = std::move(outer);
        outer = std::make_shared<const SampleIndexList>(std::move(*index_list));
    }
    return outer;
}

}  // namespace switchyard
