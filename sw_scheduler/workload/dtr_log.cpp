// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/dtr_log.h"

#include <cstdint>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
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
        if (stream_.operators.empty()) fail("the log has no operator");
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
        if (!line.is_object()) fail("no JSON object: the log is damaged or cut off");
        return true;
    }

    const json& value(const json& line, const char* key) const {
        const auto found = line.find(key);
        if (found == line.end()) fail("missing", key);
        return *found;
    }
    std::string text(const json& line, const char* key) const {
        const json& found = value(line, key);
        if (!found.is_string()) fail("no text", key);
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
        fail("no whole number", key);
    }
    std::vector<TensorId> tensors(const json& line, const char* key) const {
        const json& list = value(line, key);
        if (!list.is_array()) fail("no list", key);
        std::vector<TensorId> found;
        for (const json& name : list) {
            if (!name.is_string()) fail("no name of a tensor", key);
            found.push_back(tensor(name.get<std::string>(), key));
        }
        return found;
    }
    TensorId tensor(const std::string& name, const char* key) const {
        const auto found = names_.find(name);
        if (found == names_.end()) fail(fmt::format("unknown tensor {}", name), key);
        return found->second;
    }
    json follow(const char* verb, const std::string& name) {
        json line;
        if (!next(line)) fail(fmt::format("the log ends before {} of {}", verb, name));
        if (text(line, "INSTRUCTION") != verb || text(line, "NAME") != name)
            fail(fmt::format("expected {} of {}", verb, name), "INSTRUCTION");
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
            const std::int64_t bytes = number(follow("MEMORY", name), "MEMORY");
            if (bytes < 0) fail("below 0", "MEMORY");
            const TensorId id = add(name, static_cast<std::uint64_t>(bytes), TensorKind::input);
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
            fail(fmt::format("unknown verb {}", verb), "INSTRUCTION");
        }
    }

    TrainingOperator begin(const json& line) {
        TrainingOperator op;
        op.name = text(line, "NAME");
        backward_ = backward_ || op.name.find("backward") != std::string::npos;
        op.phase = backward_ ? TrainingPhase::backward : TrainingPhase::forward;
        op.reads = tensors(line, "ARGS");
        const std::int64_t ns = number(line, "TIME");
        if (ns < 0) fail("below 0", "TIME");
        op.ns = static_cast<double>(ns);
        op.site = stream_.operators.size();
        return op;
    }

    void call(const json& line) {
        TrainingOperator op = begin(line);
        const json& results = value(line, "RESULT");
        if (!results.is_array() || results.empty()) fail("no list of results", "RESULT");
        std::vector<std::string> made;
        for (const json& result : results) {
            if (!result.is_string()) fail("no name of a tensor", "RESULT");
            const std::string name = result.get<std::string>();
            const std::int64_t bytes = number(follow("MEMORY", name), "MEMORY");
            const std::int64_t alias = number(follow("ALIAS", name), "ALIAS");
            if (bytes < 0) fail("below 0", "MEMORY");
            if (alias < -1 || alias >= static_cast<std::int64_t>(op.reads.size()))
                fail(fmt::format("there is no argument {}", alias), "ALIAS");
            op.writes.push_back(add(name, static_cast<std::uint64_t>(bytes), TensorKind::activation,
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
        if (!which.is_array()) fail("no list", "MUTATE");
        std::vector<std::string> names;
        std::vector<TensorId> old;
        for (const json& index : which) {
            if (!index.is_number_unsigned() || index.get<std::size_t>() >= op.reads.size())
                fail("no number of an argument", "MUTATE");
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
