// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/dtr_log.h"

#include <cstdint>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_kind.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/sw_scheduler/base/text_lines.h"

namespace switchyard::sched {

namespace {

using nlohmann::json;

class LogReader {
public:
    explicit LogReader(const std::string& path) : path_(path), lines_(path, "JSON") {}

    TrainingStream read() {
        stream_.file = path_;
        const std::size_t slash = path_.find_last_of('/');
        stream_.network = slash == std::string::npos ? path_ : path_.substr(slash + 1);
        json line;
        while (next(line)) take(line);
        if (stream_.operators.empty()) fail("expected one CALL or MUTATE or more, found none");
        for (std::size_t id = 0; id < references_.size(); ++id)
            if (references_[id] > 0 && stream_.tensors[id].kind == TensorKind::activation)
                stream_.tensors[id].kind = TensorKind::gradient;
        finish_lifetimes(stream_, false);
        check_stream(stream_);
        return std::move(stream_);
    }

private:
    [[noreturn]] void fail(const std::string& message, const std::string& key = "") const { lines_.fail(key, message); }

    bool next(json& line) {
        if (!lines_.next()) return false;
        line = parse_json(lines_.line(), path_, lines_.number());
        if (!line.is_object())
            fail(fmt::format("expected a JSON object, found {}; record the log again, as it is damaged or cut off",
                             json_kind(line)));
        return true;
    }

    const json& value(const json& line, const char* key) const {
        const auto found = line.find(key);
        if (found == line.end()) fail("expected a value, found nothing", key);
        return *found;
    }
    std::string text(const json& line, const char* key) const {
        const json& found = value(line, key);
        if (!found.is_string()) fail("expected text, found " + json_kind(found), key);
        return found.get<std::string>();
    }
    /// The simulator writes numbers as text.
    std::int64_t number(const json& line, const char* key) const {
        const json& found = value(line, key);
        const bool fits = !found.is_number_unsigned() || found.get<std::uint64_t>() <= INT64_MAX;
        if (found.is_number_integer() && fits) return found.get<std::int64_t>();
        if (found.is_string()) {
            std::int64_t result = 0;
            if (parse_plain_number(found.get_ref<const std::string&>(), result) == Parsed::ok) return result;
        }
        fail("expected an integer, found " + json_kind(found), key);
    }
    std::vector<TensorId> tensors(const json& line, const char* key) const {
        const json& list = value(line, key);
        if (!list.is_array()) fail("expected a list, found " + json_kind(list), key);
        std::vector<TensorId> found;
        for (const json& item : list) found.push_back(tensor(name_in(item, key), key));
        return found;
    }
    /// Of a tensor, in the list under `key`.
    std::string name_in(const json& item, const char* key) const {
        if (!item.is_string()) fail("expected names of tensors, found " + json_kind(item), key);
        return item.get<std::string>();
    }
    std::uint64_t amount(const json& line, const char* key) const {
        const std::int64_t found = number(line, key);
        if (found < 0) fail(fmt::format("expected 0 or more, found {}", found), key);
        return static_cast<std::uint64_t>(found);
    }
    TensorId tensor(const std::string& name, const char* key) const {
        const auto found = names_.find(name);
        if (found == names_.end()) fail("expected a tensor of an earlier line, found " + shown(name), key);
        return found->second;
    }
    json follow(const char* verb, const std::string& name) {
        json line;
        const auto fail_with = [&](const std::string& found) {
            fail(fmt::format("expected {} of {}, found {}", verb, name, found), "INSTRUCTION");
        };
        if (!next(line)) fail_with("the end of the log");
        if (const std::string found = text(line, "INSTRUCTION"); found != verb) fail_with(found);
        if (const std::string found = text(line, "NAME"); found != name) fail_with("that of " + shown(found));
        return line;
    }

    TensorId add(const std::string& name, std::uint64_t bytes, TensorKind kind, TensorId view_of = kNoTensor) {
        const auto id = static_cast<TensorId>(stream_.tensors.size());
        TrainingTensor made;
        made.name = name;
        made.bytes = view_of == kNoTensor ? bytes : 0;
        made.kind = kind;
        made.alias_of = view_of == kNoTensor ? kNoTensor : stream_.storage_of(view_of);
        made.key = id;
        stream_.tensors.push_back(made);
        references_.push_back(0);
        return id;
    }
    /// References are counted of storages: a view keeps its own alive.
    void refer(TensorId id) { ++references_[stream_.storage_of(id)]; }
    void drop(TensorId id) {
        const TensorId storage = stream_.storage_of(id);
        if (references_[storage] == 0 || --references_[storage] > 0 || stream_.operators.empty()) return;
        stream_.operators.back().released.push_back(storage);
    }

    void take(const json& line) {
        const std::string verb = text(line, "INSTRUCTION");
        if (verb == "ANNOTATE") {
            const std::string what = text(line, "ANNOTATION");
            if (what == "START") {
                stream_.tensors.clear();
                stream_.operators.clear();
                names_.clear();
                references_.clear();
            }
            if (what == "BACKWARD") backward_ = true;
        } else if (verb == "CONSTANT") {
            const std::string name = text(line, "NAME");
            const TensorId id = add(name, amount(follow("MEMORY", name), "MEMORY"), TensorKind::input);
            names_[name] = id;
            refer(id);
        } else if (verb == "COPY") {
            const TensorId id = tensor(text(line, "SRC"), "SRC");
            names_[text(line, "DST")] = id;
            refer(id);
        } else if (verb == "COPY_FROM") {
            const TensorId old = tensor(text(line, "DST"), "DST"), id = tensor(text(line, "SRC"), "SRC");
            refer(id);
            names_[text(line, "DST")] = id;
            drop(old);
        } else if (verb == "RELEASE") {
            const auto found = names_.find(text(line, "NAME"));
            if (found == names_.end()) return;
            const TensorId id = found->second;
            names_.erase(found);
            drop(id);
        } else if (verb == "CALL") {
            call(line);
        } else if (verb == "MUTATE") {
            mutate(line);
        } else {
            fail(not_one_of(verb, {"ANNOTATE", "CALL", "CONSTANT", "COPY", "COPY_FROM", "MUTATE", "RELEASE"}),
                 "INSTRUCTION");
        }
    }

    TrainingOperator begin(const json& line) {
        TrainingOperator op;
        op.name = text(line, "NAME");
        backward_ = backward_ || op.name.find("backward") != std::string::npos;
        op.phase = backward_ ? TrainingPhase::backward : TrainingPhase::forward;
        op.reads = tensors(line, "ARGS");
        op.ns = static_cast<double>(amount(line, "TIME"));
        op.site = stream_.operators.size();
        return op;
    }

    void call(const json& line) {
        TrainingOperator op = begin(line);
        const json& results = value(line, "RESULT");
        if (!results.is_array() || results.empty())
            fail("expected a list of one result or more, found " + json_kind(results), "RESULT");
        std::vector<std::string> made;
        for (const json& result : results) {
            const std::string name = name_in(result, "RESULT");
            const std::uint64_t bytes = amount(follow("MEMORY", name), "MEMORY");
            const std::int64_t alias = number(follow("ALIAS", name), "ALIAS");
            if (alias < -1 || alias >= static_cast<std::int64_t>(op.reads.size()))
                fail(fmt::format("expected -1 or one of {} arguments, from 0 on, found {}", op.reads.size(), alias),
                     "ALIAS");
            op.writes.push_back(add(name, bytes, TensorKind::activation,
                                    alias < 0 ? kNoTensor : op.reads[static_cast<std::size_t>(alias)]));
            made.push_back(name);
        }
        stream_.operators.push_back(op);
        for (std::size_t i = 0; i < made.size(); ++i) {
            names_[made[i]] = op.writes[i];
            refer(op.writes[i]);
        }
    }

    void mutate(const json& line) {
        TrainingOperator op = begin(line);
        const json& which = value(line, "MUTATE");
        if (!which.is_array()) fail("expected a list, found " + json_kind(which), "MUTATE");
        std::vector<std::string> names;
        std::vector<TensorId> old;
        for (const json& index : which) {
            if (!index.is_number_unsigned() || index.get<std::size_t>() >= op.reads.size())
                fail(
                    fmt::format("expected one of {} arguments, from 0 on, found {}", op.reads.size(), json_kind(index)),
                    "MUTATE");
            names.push_back(line["ARGS"][index.get<std::size_t>()].get<std::string>());
            old.push_back(op.reads[index.get<std::size_t>()]);
            op.writes.push_back(
                add(names.back() + "$", stream_.tensors[stream_.storage_of(old.back())].bytes, TensorKind::activation));
        }
        stream_.operators.push_back(op);
        for (std::size_t i = 0; i < names.size(); ++i) {
            names_[names[i]] = op.writes[i];
            refer(op.writes[i]);
            drop(old[i]);
        }
    }

    std::string path_;
    TextLines lines_;
    bool backward_ = false;
    TrainingStream stream_;
    std::unordered_map<std::string, TensorId> names_;
    std::vector<std::uint32_t> references_;
};

}  // namespace

TrainingStream read_dtr_log(const std::string& path) {
    return LogReader(path).read();
}

}  // namespace switchyard::sched
