// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/trace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_kind.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/base/text_lines.h"
#include "switchyard/sw_scheduler/workload/route_messages.h"

namespace switchyard {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kMaskBits = 64;

/// Does sample `id` of the batch come to this switch? Outside every switch all do.
bool reaches(const SwitchSignature& signature, const BatchRouting& routing, std::uint32_t id) {
    return signature.parent < 0 || (routing.masks[signature.parent][id] >> signature.parent_branch & 1) != 0;
}

std::vector<std::uint32_t> first_ids(std::uint32_t count) {
    std::vector<std::uint32_t> ids(count);
    std::iota(ids.begin(), ids.end(), 0U);
    return ids;
}

class TraceReader {
public:
    TraceReader(std::string path, const std::vector<SwitchSignature>& switches, std::uint32_t batch_samples)
        : path_(std::move(path)), switches_(switches), batch_samples_(batch_samples), records_(switches.size()) {
        for (std::size_t i = 0; i < switches.size(); ++i) index_[switches[i].name] = i;
    }

    std::vector<BatchRouting> read(std::size_t max_batches) {
        TextLines lines(path_, "JSON");
        while (lines.next()) {
            const int line = lines.number();
            const Json object = parse(lines.line(), line);
            const std::uint64_t batch = unsigned_field(object, "batch", line);
            if (last_line_ > 0 && batch == batches_.size() + 1) {
                finish_batch();
                if (batches_.size() == max_batches) return std::move(batches_);
            }
            if (batch != batches_.size())
                fail(line, "batch",
                     fmt::format("expected batch {}{}, as batches are numbered from 0 without gaps, found {}",
                                 batches_.size(), last_line_ > 0 ? fmt::format(" or {}", batches_.size() + 1) : "",
                                 batch));
            read_switch(object, line);
            last_line_ = line;
        }
        if (last_line_ == 0) throw InputError(path_, 0, "", "expected one batch or more, found none");
        finish_batch();
        return std::move(batches_);
    }

private:
    struct Record {
        int line = 0;
        std::vector<std::uint32_t> ids;
        std::vector<std::uint64_t> masks;
    };

    [[noreturn]] void fail(int line, const std::string& key, const std::string& message) const {
        throw InputError(path_, line, key, message);
    }

    Json parse(const std::string& text, int line) const {
        Json object = parse_json(text, path_, line);
        if (!object.is_object()) fail(line, "", "expected a JSON object, found " + json_kind(object));
        static const std::vector<std::string> kKnown{"batch", "switch", "branches", "samples", "mask"};
        for (const auto& [key, value] : object.items())
            if (key != kProgramKey && std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
                fail(line, key, not_one_of(key, kKnown));
        return object;
    }

    const Json& field(const Json& object, const char* key, int line) const {
        const auto found = object.find(key);
        if (found == object.end()) fail(line, key, "expected a value, found nothing");
        return *found;
    }

    std::uint64_t to_unsigned(const Json& value, const char* key, int line) const {
        if (!value.is_number_unsigned()) fail(line, key, "expected a count or id, found " + json_kind(value));
        return value.get<std::uint64_t>();
    }

    std::uint64_t unsigned_field(const Json& object, const char* key, int line) const {
        return to_unsigned(field(object, key, line), key, line);
    }

    void read_switch(const Json& object, int line) {
        const Json& name = field(object, "switch", line);
        const auto found = name.is_string() ? index_.find(name.get_ref<const std::string&>()) : index_.end();
        if (found == index_.end())
            fail(line, "switch",
                 name.is_string() ? no_switch(name.get<std::string>(), switches_)
                                  : "expected a switch of the model, found " + json_kind(name));
        const SwitchSignature& signature = switches_[found->second];
        std::optional<Record>& record = records_[found->second];
        if (record)
            fail(line, "switch",
                 fmt::format("expected \"{}\" once in batch {}, found it in line {} as well", signature.name,
                             batches_.size(), record->line));
        const std::uint64_t branches = unsigned_field(object, "branches", line);
        if (branches != signature.branches)
            fail(line, "branches",
                 fmt::format("expected {}, those of \"{}\" in the model, found {}", signature.branches, signature.name,
                             branches));
        record = Record{line, read_samples(field(object, "samples", line), line), {}};
        record->masks = read_masks(field(object, "mask", line), signature, record->ids, line);
    }

    /// A count N stands for 0 .. N-1.
    std::vector<std::uint32_t> read_samples(const Json& samples, int line) const {
        if (!samples.is_array()) {
            const std::uint64_t count = to_unsigned(samples, "samples", line);
            if (count > batch_samples_) fail_count("at most ", count, line);
            return first_ids(static_cast<std::uint32_t>(count));
        }
        std::vector<std::uint32_t> ids;
        ids.reserve(samples.size());
        for (const Json& item : samples) {
            const std::uint64_t id = to_unsigned(item, "samples", line);
            if (id >= batch_samples_)
                fail(line, "samples",
                     fmt::format("expected ids below {}, the samples of a batch of the model, found {}", batch_samples_,
                                 id));
            if (!ids.empty() && id <= ids.back())
                fail(line, "samples", fmt::format("expected increasing ids, found {} after {}", id, ids.back()));
            ids.push_back(static_cast<std::uint32_t>(id));
        }
        return ids;
    }

    [[noreturn]] void fail_count(const char* bound, std::uint64_t count, int line) const {
        fail(line, "samples",
             fmt::format("expected {}{}, the samples of a batch of the model, found {}", bound, batch_samples_, count));
    }

    std::vector<std::uint64_t> read_masks(const Json& list, const SwitchSignature& signature,
                                          const std::vector<std::uint32_t>& ids, int line) const {
        if (!list.is_array()) fail(line, "mask", "expected a list, found " + json_kind(list));
        if (list.size() != ids.size())
            fail(line, "mask", fmt::format("expected {} masks, one a sample, found {}", ids.size(), list.size()));
        const std::uint64_t known = ~std::uint64_t{0} >> (kMaskBits - signature.branches);
        std::vector<std::uint64_t> masks;
        masks.reserve(ids.size());
        for (const Json& item : list) {
            const std::uint32_t id = ids[masks.size()];
            const std::uint64_t mask = to_unsigned(item, "mask", line);
            if ((mask & ~known) != 0)
                fail(line, "mask",
                     fmt::format("expected bits of the {} branches of \"{}\", found {} at sample {}",
                                 signature.branches, signature.name, mask, id));
            if (signature.exclusive && (mask == 0 || (mask & (mask - 1)) != 0))
                fail(line, "mask",
                     fmt::format("expected one branch of \"{}\", which chooses one, found {} at sample {}",
                                 signature.name, mask == 0 ? "none" : fmt::format("the mask {}", mask), id));
            masks.push_back(mask);
        }
        return masks;
    }

    /// Puts the batch's records together once all have been read: a nested switch may stand before its parent.
    void finish_batch() {
        BatchRouting routing;
        routing.samples = batch_samples_;
        for (std::size_t i = 0; i < switches_.size(); ++i) {
            if (!records_[i])
                fail(last_line_, "switch",
                     fmt::format("expected \"{}\" in batch {}, found the end of the batch", switches_[i].name,
                                 batches_.size()));
            const Record& record = *records_[i];
            if (switches_[i].parent < 0 && record.ids.size() != batch_samples_)
                fail_count("", record.ids.size(), record.line);
        }
        routing.masks.assign(switches_.size(), std::vector<std::uint64_t>(routing.samples, 0));
        for (std::size_t i = 0; i < switches_.size(); ++i) place(*records_[i], routing.masks[i]);
        for (std::size_t i = 0; i < switches_.size(); ++i)
            if (switches_[i].parent >= 0) check_samples(switches_[i], *records_[i], routing);
        batches_.push_back(std::move(routing));
        records_.assign(switches_.size(), std::nullopt);
    }

    static void place(const Record& record, std::vector<std::uint64_t>& masks) {
        for (std::size_t i = 0; i < record.ids.size(); ++i) masks[record.ids[i]] = record.masks[i];
    }

    void check_samples(const SwitchSignature& signature, const Record& record, const BatchRouting& routing) const {
        std::size_t next = 0;
        for (std::uint32_t id = 0; id < routing.samples; ++id) {
            const bool listed = next < record.ids.size() && record.ids[next] == id;
            next += listed;
            if (listed == reaches(signature, routing, id)) continue;
            const std::string branch =
                fmt::format("branch {} of \"{}\"", signature.parent_branch, switches_[signature.parent].name);
            fail(record.line, "samples",
                 listed ? fmt::format("expected samples that take {}, found {}, which does not", branch, id)
                        : fmt::format("expected sample {}, which takes {}, found a list without it", id, branch));
        }
    }

    std::string path_;
    const std::vector<SwitchSignature>& switches_;
    std::uint32_t batch_samples_;
    std::map<std::string, std::size_t> index_;
    std::vector<std::optional<Record>> records_;  ///< of the batch that is being read, one a switch
    int last_line_ = 0;
    std::vector<BatchRouting> batches_;
};

}  // namespace

std::vector<BatchRouting> read_trace(const std::string& path, const std::vector<SwitchSignature>& switches,
                                     std::uint32_t batch_samples, std::size_t max_batches) {
    return TraceReader(path, switches, batch_samples).read(max_batches);
}

std::vector<BatchRouting> joined_batches(const std::vector<BatchRouting>& batches, std::uint32_t count,
                                         const std::string& source) {
    if (count == 1) return batches;
    if (batches.size() % count != 0)
        throw InputError(
            source, 0, "batches",
            fmt::format("expected a multiple of {}, the batches in flight, found {}", count, batches.size()));
    std::vector<BatchRouting> joined;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        if (i % count == 0) {
            joined.push_back(batches[i]);
            continue;
        }
        BatchRouting& last = joined.back();
        last.samples += batches[i].samples;
        for (std::size_t s = 0; s < last.masks.size(); ++s)
            last.masks[s].insert(last.masks[s].end(), batches[i].masks[s].begin(), batches[i].masks[s].end());
    }
    return joined;
}

void write_trace(const std::string& path, const std::vector<SwitchSignature>& switches,
                 const std::vector<BatchRouting>& batches) {
    OutputFile output(path);
    for (std::size_t batch = 0; batch < batches.size(); ++batch) {
        const BatchRouting& routing = batches[batch];
        for (std::size_t i = 0; i < switches.size(); ++i) {
            std::vector<std::uint32_t> ids;
            std::vector<std::uint64_t> masks;
            for (std::uint32_t id = 0; id < routing.samples; ++id) {
                if (!reaches(switches[i], routing, id)) continue;
                ids.push_back(id);
                masks.push_back(routing.masks[i][id]);
            }
            const bool gapless = ids.empty() || ids.back() == ids.size() - 1;
            if (batch == 0 && i == 0) output.stream() << fmt::format("{{\"{}\":\"{}\",", kProgramKey, kProgram);
            output.stream() << fmt::format(
                "{}\"batch\":{},\"switch\":{},\"branches\":{},\"samples\":{},\"mask\":[{}]}}\n",
                batch == 0 && i == 0 ? "" : "{", batch, json_text(Json(switches[i].name)), switches[i].branches,
                gapless ? std::to_string(ids.size()) : fmt::format("[{}]", fmt::join(ids, ",")), fmt::join(masks, ","));
        }
    }
    output.commit();
}

}  // namespace switchyard
