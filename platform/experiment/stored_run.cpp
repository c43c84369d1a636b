// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/stored_run.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/read_files.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

std::string point_answer(const Point& point, const SystemRegistry& registry) {
    const auto started = std::chrono::steady_clock::now();
    const ReadFiles read;
    ordered_json answer = {{kProgramKey, kProgram}};
    try {
        answer["report"] = registry.system_of_design(point.design).prepare(point)->run();
        answer["state"] = kDone;
    } catch (const Infeasible& reason) {
        answer.update({{"state", kInfeasible}, {"message", reason.what()}});
    } catch (const sc_core::sc_report& report) {
        answer.update({{"state", kFailed}, {"message", report.get_msg()}});
    } catch (const std::exception& error) {
        answer.update({{"state", kFailed}, {"message", error.what()}});
    }
    answer["files"] = read.paths();
    answer["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return json_text(answer);
}

void answer_point(const Point& point, const SystemRegistry& registry, const std::string& version,
                  const std::string& key, const std::string& file) {
    const PointKeys::Key here = PointKeys(registry, version).of(point);
    const std::string answer =
        here.hash == key
            ? point_answer(point, registry)
            : json_text(ordered_json{{kProgramKey, kProgram},
                                     {"state", kFailed},
                                     {"message", "the files or the program differ from those of the sweep"},
                                     {"files", ordered_json::array()}});
    write_file(answer, file);
}

bool StoredRun::is_known(const std::string& key) {
    const std::optional<StoredPoint> known = store_.find(key);
    if (!known) return false;
    bool stale = retry_ && known->state == kFailed;
    for (const auto& [path, hash] : known->inputs) stale = stale || keys_.file_hash(path) != hash;
    if (stale) store_.remove(key);
    return !stale;
}

StoredPoint StoredRun::stored(const std::string& answer, double seconds) {
    const ordered_json document = parse_ordered_json(answer, "answer of a process");
    // The report stays as it is: everything else is read.
    nlohmann::json head = nlohmann::json::object();
    if (document.is_object())
        for (const auto& [key, value] : document.items())
            if (key != "report") head[key] = value;
    const JsonReader reader(head, "answer of a process");
    StoredPoint ended;
    ended.state = reader.member("state").text();
    if (reader.has("message")) ended.message = reader.member("message").text();
    ended.seconds = seconds;
    for (const std::string& path : reader.member("files").texts()) ended.inputs[path] = keys_.file_hash(path);
    if (document.contains("report")) ended.report = json_text(document.at("report"));
    return ended;
}

bool StoredRun::run(const std::vector<StoredTask>& tasks, const ExecutorOptions& executor,
                    const std::function<void(std::size_t, const StoredPoint&)>& noted) {
    const auto note = [&](std::size_t index, StoredPoint ended) {
        ended.key = tasks[index].key;
        ended.configuration = json_text(configuration_of(*tasks[index].point));
        ended.version = keys_.version();
        std::replace(ended.message.begin(), ended.message.end(), '\n', ' ');
        store_.add(ended);
        noted(index, ended);
    };
    std::vector<ExecutorTask> work;
    work.reserve(tasks.size());
    for (const StoredTask& task : tasks) work.push_back({task.number, task.key});
    return execute(
        work, executor, [&](std::size_t index) { return point_answer(*tasks[index].point, registry_); },
        [&](std::size_t index, const std::string& answer, double seconds) { note(index, stored(answer, seconds)); },
        [&](std::size_t index, const std::string& message, double seconds) {
            StoredPoint ended;
            ended.state = kFailed;
            ended.message = message;
            ended.seconds = seconds;
            note(index, ended);
        });
}

}  // namespace switchyard::platform
