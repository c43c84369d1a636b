// SPDX-License-Identifier: Apache-2.0
// Timelines: slices nest, and their sums are the counters'.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/activity_log.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

struct Slice {
    std::uint64_t begin = 0, end = 0;
    std::string name;
    std::map<std::string, std::uint64_t> arguments;
};

/// Keeps what it is told.
class KeptLog : public ActivityLog {
public:
    std::map<std::pair<std::string, std::string>, std::vector<Slice>> tracks;

    Track track(const std::string& group, const std::string& name) override {
        const auto key = std::make_pair(group, name);
        const auto found = std::find(keys_.begin(), keys_.end(), key);
        if (found != keys_.end()) return static_cast<Track>(found - keys_.begin());
        keys_.push_back(key);
        return static_cast<Track>(keys_.size() - 1);
    }
    void slice(Track track, std::string_view name, std::uint64_t begin, std::uint64_t end,
               std::initializer_list<Argument> arguments) override {
        if (end == begin) return;
        Slice kept{begin, end, std::string(name), {}};
        for (const Argument& argument : arguments) kept.arguments[argument.name] = argument.value;
        tracks[keys_.at(track)].push_back(std::move(kept));
    }
    void value(Track, std::uint64_t, double) override {}
    void set_sampler(std::function<std::uint64_t()>, std::function<void(std::uint64_t)>) override {}

    std::uint64_t ticks(const std::string& group, const std::string& name = "") const {
        std::uint64_t sum = 0;
        for (const auto& [key, slices] : tracks)
            for (const Slice& slice : slices)
                if (key.first == group && (name.empty() || slice.name == name)) sum += slice.end - slice.begin;
        return sum;
    }
    std::uint64_t argument(const std::string& group, const std::string& name) const {
        std::uint64_t sum = 0;
        for (const auto& [key, slices] : tracks)
            for (const Slice& slice : slices)
                if (key.first == group && slice.arguments.count(name) > 0) sum += slice.arguments.at(name);
        return sum;
    }

private:
    std::vector<std::pair<std::string, std::string>> keys_;
};

/// Each slice of a track ends before the next one begins, or the next lies within it.
template <class Slices>
void check_nesting(Slices slices) {
    std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
        return std::make_pair(a.begin, b.end) < std::make_pair(b.begin, a.end);
    });
    std::vector<std::uint64_t> open;
    std::size_t crossing = 0;
    for (const auto& slice : slices) {
        while (!open.empty() && open.back() <= slice.begin) open.pop_back();
        crossing += !open.empty() && slice.end > open.back() ? 1 : 0;
        open.push_back(slice.end);
    }
    CHECK(crossing == 0);
}

/// The slices of a file by process and thread, in nanoseconds.
std::map<std::pair<std::string, std::string>, std::vector<Slice>> slices_of(const std::string& path) {
    const nlohmann::json trace = read_json(path);
    std::map<int, std::string> processes;
    std::map<std::pair<int, int>, std::string> threads;
    std::map<std::pair<std::string, std::string>, std::vector<Slice>> slices;
    const auto nanoseconds = [](const nlohmann::json& us) {
        return static_cast<std::uint64_t>(std::llround(us.get<double>() * 1e3));
    };
    for (const nlohmann::json& event : trace.at("traceEvents")) {
        const std::string kind = event.at("ph");
        const int pid = event.at("pid");
        if (kind == "M" && event.at("name") == "process_name") processes[pid] = event.at("args").at("name");
        if (kind == "M" && event.at("name") == "thread_name")
            threads[{pid, event.at("tid")}] = event.at("args").at("name");
        if (kind != "X") continue;
        const std::uint64_t begin = nanoseconds(event.at("ts"));
        slices[{processes.at(pid), threads.at({pid, event.at("tid")})}].push_back(
            {begin, begin + nanoseconds(event.at("dur")), event.at("name"), {}});
    }
    return slices;
}

}  // namespace

TEST_CASE("what is on a timeline of the chip adds up to the counters", "[timeline]") {
    const char* const chip = GENERATE("tiles", "stages");
    INFO(chip);
    PlatformConfig platform = read_platform(kMini);
    platform.chip.impl = chip;
    const std::string text = read_text(digits_image());
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    const Image image = decode_image_for(platform, bytes, "digits");
    const auto routing = read_trace(kDigitsTrace, signatures_of(image.meta), image.meta.batch_samples, 3);
    in_child([&] {
        KeptLog log;
        ActivityLog::set_current(&log);
        const RunResult result = run_simulation(platform, image, bytes, routing);
        ActivityLog::set_current(nullptr);
        const double tick_cycles = 1.0 / static_cast<double>(sc_core::sc_time(1, sc_core::SC_NS).value());
        const bool tiles = std::string(chip) == "tiles";
        const auto cycles = [&](const char* group, const char* name = "") {
            return static_cast<double>(log.ticks(group, name)) * tick_cycles;
        };
        for (const auto& [track, slices] : log.tracks) {
            INFO(track.first << ", " << track.second);
            check_nesting(slices);
        }
        CHECK(cycles("tiles") == Approx(result.at_end.of("controller").sum("busy_cycles")));
        CHECK(log.argument("tiles", "macs") ==
              (tiles ? result.at_end.of("controller").sum("macs") : result.at_end.of("pe_array").sum("macs")));
        CHECK(cycles("chip", "segment 0") > 0);
        double segments = 0;
        for (const SegmentTime& segment : result.segments) segments += static_cast<double>(segment.cycles);
        CHECK(cycles("chip") - cycles("chip", "profile") == Approx(segments));
        std::array<double, kTimeUses> used{};
        for (const auto& [op_id, time] : result.times)
            for (std::size_t use = 0; use < kTimeUses; ++use) used[use] += time.used[use];
        for (std::size_t use = 1; use < kTimeUses; ++use) {
            INFO(kTimeUseNames[use]);
            CHECK(cycles("network interface waits", kTimeUseNames[use]) == Approx(used[use]).margin(tiles ? 0.5 : 50));
        }
        const double memory_cycles = cycles("memory channels") / platform.hbm.pseudo_channels_per_interface;
        CHECK(memory_cycles == Approx(result.at_end.of("hbm").sum("busy_cycles")).epsilon(tiles ? 1e-6 : 0.02));
        CHECK(log.argument("DMA", "to_chip_bytes") ==
              result.host.weight_bytes + result.host.input_bytes + result.host.mask_bytes);
        CHECK(log.argument("DMA", "from_chip_bytes") == result.host.output_bytes);
        double batches = 0;
        for (const SimulatedHost::Batch& batch : result.host.batches)
            batches += static_cast<double>((batch.interrupt - batch.doorbell).value()) * tick_cycles;
        CHECK(static_cast<double>(log.tracks.at({"host", "batches"}).size()) == 3);
        double shown = 0;
        for (const Slice& slice : log.tracks.at({"host", "batches"}))
            shown += static_cast<double>(slice.end - slice.begin) * tick_cycles;
        CHECK(shown == Approx(batches));
        if (tiles) CHECK(cycles("dispatchers") == Approx(result.at_end.of("dispatcher").sum("search_cycles")));
    });
}

namespace {

void check_timeline_of_skipnet(const std::string& chip) {
    const std::string platform = "--platform configs/platforms/adyna.yaml ";
    const std::string image = compiled("configs/workloads/skipnet_resnet34.yaml " + platform + "--design adyna");
    const std::string file = scratch("skipnet_timeline.json");
    const nlohmann::json report =
        report_of_run(platform + "--set chip.impl=" + chip + " --batches 1 --image " + image + " --timeline " + file);
    CHECK(std::filesystem::file_size(file) < 50'000'000);
    const nlohmann::json without =
        report_of_run(platform + "--set chip.impl=" + chip + " --batches 1 --image " + image);
    for (const char* const key : {"batches", "operators", "summary", "tiles", "links", "load"}) {
        INFO(key);
        CHECK((report.at(key) == without.at(key)));
    }
    const auto slices = slices_of(file);
    double busy = 0;
    for (const auto& [track, of_track] : slices) {
        INFO(track.first << ", " << track.second);
        check_nesting(of_track);
        if (track.first != "tiles") continue;
        for (const Slice& slice : of_track) busy += static_cast<double>(slice.end - slice.begin);
    }
    CHECK(busy == Approx(report.at("counters").at("controller.busy_cycles").get<double>()));  // at 1 GHz

    // A window of it has what lies in it, cut at its ends.
    const double begin = report.at("batches").at(0).at("start_cycle").get<double>() * 1e-3 + 10;
    const std::string part = scratch("skipnet_part.json");
    report_of_run(platform + "--set chip.impl=" + chip + " --batches 1 --image " + image + " --timeline " + part +
                  fmt::format(" --timeline-window {}:{}", begin, begin + 5));
    CHECK(std::filesystem::file_size(part) < std::filesystem::file_size(file) / 4);
    std::size_t kept = 0;
    for (const auto& [track, of_track] : slices_of(part)) {
        for (const Slice& slice : of_track) {
            CHECK(static_cast<double>(slice.begin) >= begin * 1e3 - 1);
            CHECK(static_cast<double>(slice.end) <= (begin + 5) * 1e3 + 1);
            ++kept;
        }
    }
    CHECK(kept > 0);
}

}  // namespace

TEST_CASE("a batch of SkipNet is a timeline of less than 50 MB", "[.ci-long][timeline]") {
    check_timeline_of_skipnet("stages");
}

TEST_CASE("a batch of SkipNet on tiles is a timeline of less than 50 MB", "[.ci-long][timeline]") {
    check_timeline_of_skipnet("tiles");
}

TEST_CASE("what is on a timeline of a GPU adds up to the report", "[timeline]") {
    const std::string design = GENERATE("gpu-serial", "gpu-multi-stream", "ace-sw", "ace-hw");
    INFO(design);
    const std::string file = scratch("gpu.json"), folder = scratch("gpu");
    const Outcome outcome =
        sy_sim("run --design " + design +
               " --workload configs/workloads/ace/walker2d.yaml --platform configs/platforms/ace_rtx3070.yaml "
               "--batches 1 --report " +
               folder + " --timeline " + file);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const nlohmann::json report = read_json(folder + "/report.json");
    double running_ns = 0;
    std::size_t running = 0, dispatched = 0;
    for (const auto& [track, slices] : slices_of(file)) {
        INFO(track.first << ", " << track.second);
        check_nesting(slices);
        REQUIRE(track.first == "GPU");
        if (track.second.rfind("stream ", 0) == 0) dispatched += slices.size();
        if (track.second.rfind("multiprocessors", 0) != 0) continue;
        running += slices.size();
        for (const Slice& slice : slices) running_ns += static_cast<double>(slice.end - slice.begin);
    }
    const nlohmann::json& summary = report.at("summary");
    CHECK(running == report.at("kernels").at("count").get<std::size_t>());
    if (design != "ace-hw") CHECK(dispatched == running);  // no streams: the window dispatches
    // The kernels that run at a time, on average over the latency.
    CHECK(running_ns * 1e-3 / summary.at("latency_us").at("mean").get<double>() ==
          Approx(summary.at("mean_running_kernels").get<double>()).epsilon(1e-4));
}

TEST_CASE("a timeline that cannot be is refused", "[timeline]") {
    const std::string run = "run --platform configs/platforms/mini.yaml --batches 1 --trace " +
                            std::string(kDigitsTrace) + " --image " + digits_image() + " --timeline ";
    check_refused(sy_sim(run + scratch("t.json") + " --timeline-window 5"), {"--timeline-window", "BEGIN:END"});
    check_refused(sy_sim(run + scratch("t.json") + " --timeline-window 5:3"),
                  {"--timeline-window", "expected an end after the begin, found one before it"});
    check_refused(sy_sim(run + scratch("t.json") + " --timeline-window x:3"), {"--timeline-window", "\"x\""});
    check_refused(
        sy_sim(
            "run --design gpu --workload configs/workloads/digits_skipnet.yaml --platform configs/platforms/a100.yaml "
            "--batches 1 --timeline " +
            scratch("formula.json")),
        {"--timeline", "formula"});
    CHECK(!std::filesystem::exists(scratch("t.json")));
    CHECK(!std::filesystem::exists(scratch("formula.json")));
}
