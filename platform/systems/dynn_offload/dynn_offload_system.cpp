// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/checks.h"
#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/no_progress.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/dynn_offload/data_parallel.h"
#include "switchyard/platform/systems/dynn_offload/training_config.h"
#include "switchyard/platform/systems/dynn_offload/training_device.h"
#include "switchyard/platform/systems/dynn_offload/uvm_program.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/dynn_offload/misprediction_records.h"
#include "switchyard/sw_scheduler/dynn_offload/partition.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot.h"
#include "switchyard/sw_scheduler/memory_managers/managers.h"
#include "switchyard/sw_scheduler/training_streams/training_network.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace dynn_offload_system {

using memory_managers::MemoryProgram;
using memory_managers::ProgramCheck;
using memory_managers::Timeline;

namespace {

constexpr const char* kUnmanaged = "unmanaged";
constexpr const char* kUvm = "uvm";
constexpr const char* kDtr = "dtr";
constexpr const char* kZeroOffload = "zero-offload";
constexpr const char* kOracle = "sentinel-oracle";
constexpr const char* kDynnOffload = "dynn-offload";
constexpr std::size_t kSamples = 100;  ///< training steps if nothing else is said
constexpr std::size_t kMaxListed = 3000;

/// What one path does with one prediction.
struct Outcome {
    MemoryProgram program;  ///< without its actions once it has run
    Timeline line;
    std::vector<std::string> broken;
    double base_ns = 0;     ///< operators of the step, each once on the device
    double host_ns = 0;     ///< those of them that the host runs: their time on the device
    double exposed_ns = 0;  ///< all-reduces behind the backward pass

    double ns() const { return line.ns + exposed_ns; }
    std::uint64_t unmanaged_bytes = 0, budget = 0;
};

/// Sums over the steps of a run that trained.
struct StepTotals {
    std::vector<double> latency_us;
    ordered_json batches = ordered_json::array();
    std::size_t failed = 0, thrashed = 0, on_demand = 0, evictions = 0, recomputed = 0, broken = 0, faults = 0,
                fault_batches = 0, fragmented = 0;
    double examined = 0;
    double fault = 0, manage = 0, exposed = 0;
    double base = 0, elsewhere = 0, compute = 0, recompute = 0, waiting = 0, carried = 0, host = 0;
    double to_device = 0, to_host = 0, carried_bytes = 0, vain = 0;
    std::uint64_t peak = 0, host_peak = 0, unmanaged = 0;
    std::string why;  ///< of the first step that does not fit; empty: all do

    void add(const Outcome& outcome) {
        const MemoryProgram& program = outcome.program;
        const Timeline& line = outcome.line;
        base += outcome.base_ns;
        elsewhere += outcome.host_ns;
        compute += line.compute_ns;
        recompute += line.recompute_ns;
        waiting += line.waiting_ns;
        carried += line.carry_ns;
        host += line.host_ns;
        to_device += static_cast<double>(line.to_device_bytes);
        to_host += static_cast<double>(line.to_host_bytes);
        carried_bytes += static_cast<double>(line.carried_bytes);
        vain += static_cast<double>(program.fetched_in_vain_bytes);
        exposed += outcome.exposed_ns;
        manage += line.manage_ns;
        fragmented += program.fragmented;
        examined += program.examined;
        faults += program.page_faults;
        fault_batches += program.fault_batches;
        fault += line.fault_ns;
        evictions += program.evictions;
        recomputed += program.recomputed;
        peak = std::max(peak, program.peak_bytes);
        host_peak = std::max(host_peak, program.host_bytes);
    }
};

class TrainingPlan : public Plan {
public:
    explicit TrainingPlan(const Point& point)
        : design_(point.design), platform_(read_training_platform(point.platform, point.overrides)) {
        const TrainingConfig& config = platform_.training;
        std::map<std::string, std::string> overrides = platform_.network;
        network_ = sched::read_training_network(point.workload, describe_gpu(platform_.gpu), overrides);
        if (!overrides.empty()) {
            const std::string& first = overrides.begin()->first;
            const std::string key = "network" + first.substr(first.find('.'));
            throw InputError("--set", 0, key, "expected a known key, found " + key);
        }
        if (design_ == kZeroOffload && !network_.is_static())
            throw Infeasible(point.workload, 0, "",
                             "expected a static network for zero-offload, found one of " +
                                 std::to_string(network_.paths()) + " paths");
        dynn_offload::PartitionConfig partition;
        partition.buffer_bytes = platform_.budget_bytes() / 2;
        partition.host_gb_per_s = platform_.transfer_times().to_device_gb_per_s;
        partition.rule = dynn_offload::parse_partition_rule(config.partition, point.platform, "training.partition");
        partition.blocks = config.blocks;
        partition.share = config.block_share;
        partition.repeated = true;
        planner_ = std::make_unique<dynn_offload::BlockPlanner>(network_, partition);
        std::optional<dynn_offload::Pilot> pilot;
        std::unique_ptr<dynn_offload::PilotPredictor> predictor;
        if (design_ == kDynnOffload) {
            if (config.pilot.empty())
                throw InputError(point.platform, 0, "training.pilot",
                                 "expected a file of sy-sched pilot train, found none");
            const std::filesystem::path beside = std::filesystem::path(point.platform).parent_path() / config.pilot;
            pilot = dynn_offload::Pilot::read(exists(beside.string()) ? beside.string() : config.pilot);
            predictor = std::make_unique<dynn_offload::PilotPredictor>(network_, *pilot);
        }
        if (config.gpus > 1)
            parallel_ = std::make_unique<DataParallel>(
                (std::filesystem::path(point.platform).parent_path() / config.topology).lexically_normal().string(),
                config.gpus, static_cast<std::uint64_t>(config.bucket_mb * 1e6));
        std::unique_ptr<dynn_offload::PathComparison> comparison;
        if (config.wrong_share > 0 && design_ == kOracle)
            comparison = std::make_unique<dynn_offload::PathComparison>(network_);
        dynn_offload::MispredictionRecords records;
        const std::size_t count = point.work.batches > 0 ? point.work.batches : kSamples;
        const std::uint64_t seed = point.work.seed.value_or(config.seed);
        const std::vector<sched::TrainingSample> drawn = network_.samples(seed, count * config.gpus);
        RandomSource random(seed, 0x3b09);
        for (const sched::TrainingSample& sample : drawn) {
            std::uint32_t used = sample.path;
            if (comparison && random.chance(config.wrong_share)) {
                used = random.choose(drawn).path;
                mispredictions_ += comparison->mispredicted(used, sample.path);
            }
            if (predictor) {
                const std::vector<dynn_offload::BlockVector> output = predictor->output_of(sample);
                used = predictor->path_of(output);
                if (config.handling) used = records.find(output).value_or(used);
                if (predictor->mispredicted(used, sample.path)) {
                    ++mispredictions_;
                    records.record(output, sample.path);
                }
            }
            samples_.emplace_back(sample.path, used);
            if (outcomes_.count(samples_.back()) == 0) add(samples_.back());
        }
        records_ = records.size();
    }

    ordered_json cost() const override { return {{"distinct_steps", outcomes_.size()}}; }
    bool depends_on_seed() const override { return !network_.is_static(); }
    ordered_json run() override;

private:
    StepTotals totals(double overhead_ns) const;
    ordered_json summary(const StepTotals& totals, double overhead_ns) const;
    std::vector<Check> checks(const StepTotals& totals) const;

    void add(const std::pair<std::uint32_t, std::uint32_t>& step) {
        const sched::TrainingStream& stream = *network_.stream(step.first);
        Outcome outcome;
        outcome.base_ns = stream.total_ns();
        outcome.unmanaged_bytes = stream.peak_bytes();
        outcome.budget = platform_.budget_bytes();
        if (design_ == kUnmanaged)
            outcome.program = memory_managers::run_unmanaged(stream, outcome.budget, platform_.training.fragmentation);
        else if (design_ == kUvm)
            outcome.program = run_uvm(stream, outcome.budget, platform_.training.uvm());
        else if (design_ == kDtr)
            outcome.program =
                memory_managers::run_dtr(stream, outcome.budget,
                                         {platform_.training.dtr_max_overhead, platform_.training.dtr_operator_us * 1e3,
                                          platform_.training.dtr_examined_us * 1e3, platform_.training.fragmentation});
        else if (design_ == kZeroOffload)
            outcome.program = memory_managers::run_zero_offload(
                stream, outcome.budget, {platform_.training.host_adam_gb_per_s, platform_.training.fragmentation});
        else
            outcome.program = memory_managers::run_double_buffer(
                stream, dynn_offload::true_prediction(network_, *planner_, step.second), outcome.budget / 2,
                platform_.training.eviction == "unused" ? memory_managers::EvictionRule::unused
                                                        : memory_managers::EvictionRule::for_room,
                platform_.training.fragmentation);
        const double host_bytes = platform_.training.host_gb * 1e9;
        if (host_bytes > 0 && static_cast<double>(outcome.program.host_bytes) > host_bytes && design_ != kUvm)
            outcome.program.out_of_memory =
                fmt::format("{:.1f} GB of host memory, there are {:.1f}",
                            static_cast<double>(outcome.program.host_bytes) * 1e-9, platform_.training.host_gb);
        for (const memory_managers::Action& action : outcome.program.actions)
            if (action.kind == memory_managers::ActionKind::host_compute)
                outcome.host_ns += stream.operators[action.op].ns;
        if (platform_.training.impl == "analytic" && outcome.program.out_of_memory.empty())
            finish(step.first, outcome, memory_managers::estimate(outcome.program, platform_.transfer_times()));
        outcomes_.emplace(step, std::move(outcome));
    }

    /// Takes what a report needs and gives the actions up.
    void finish(std::uint32_t path, Outcome& outcome, Timeline line) {
        // Pages have no contents of tensors.
        if (platform_.training.functional && design_ != kUvm) {
            const ProgramCheck check = check_program(outcome.program, *network_.stream(path), line);
            outcome.broken = check.broken;
            if (check.persistent_hash != memory_managers::unlimited_hash(*network_.stream(path)))
                outcome.broken.emplace_back("other weights than with unlimited memory");
        }
        if (parallel_) outcome.exposed_ns = parallel_->exposed_ns(*network_.stream(path), outcome.program, line);
        outcome.line = std::move(line);
        outcome.line.begin = {};
        outcome.line.end = {};
        outcome.program.actions = {};
    }

    /// Throws Infeasible for what the keys all_must_train and max_overhead do not admit.
    void check_limits(std::size_t failed, const std::string& why, const std::vector<double>& latency_us,
                      double base_ns) const {
        if (platform_.training.all_must_train && failed > 0)
            throw Infeasible(network_.name, 0, "",
                             fmt::format("expected all {} steps to train, found {} that do not: {}",
                                         samples_.size() / platform_.training.gpus, failed, why));
        double ns = 0;
        for (const double us : latency_us) ns += us * 1e3;
        const double overhead = base_ns > 0 ? ns / base_ns - 1 : 0, most = platform_.training.max_overhead;
        if (most > 0 && overhead > most)
            throw Infeasible(network_.name, 0, "",
                             fmt::format("expected at most {} times the time with unlimited memory, found {:.2f} times",
                                         1 + most, 1 + overhead));
    }

    void simulate() {
        std::vector<const MemoryProgram*> programs;
        std::vector<std::pair<std::uint32_t, Outcome*>> of;
        for (auto& [step, outcome] : outcomes_) {
            if (!outcome.program.out_of_memory.empty()) continue;
            programs.push_back(&outcome.program);
            of.emplace_back(step.first, &outcome);
        }
        TrainingDevice device("device", platform_.gpu.host_link, platform_.transfer_times(),
                              platform_.training.copy_setup_us * 1e3, platform_.training.copy_chunk_bytes, programs);
        sc_core::sc_start();
        if (!device.finished()) throw no_progress(device.registry);
        for (std::size_t i = 0; i < of.size(); ++i) finish(of[i].first, *of[i].second, device.timelines()[i]);
    }

    std::string design_;
    TrainingPlatform platform_;
    sched::TrainingNetwork network_;
    std::unique_ptr<dynn_offload::BlockPlanner> planner_;
    std::unique_ptr<DataParallel> parallel_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Outcome> outcomes_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> samples_;
    std::size_t mispredictions_ = 0, records_ = 0;
};

StepTotals TrainingPlan::totals(double overhead_ns) const {
    StepTotals totals;
    const unsigned gpus = platform_.training.gpus;
    for (std::size_t step = 0; step < samples_.size() / gpus; ++step) {
        // Of several GPUs, each with a sample of its own, the slowest is the time of the step.
        const std::pair<std::uint32_t, std::uint32_t>* slowest = nullptr;
        bool fits = true;
        for (unsigned gpu = 0; gpu < gpus; ++gpu) {
            const auto& sample = samples_[step * gpus + gpu];
            const Outcome& outcome = outcomes_.at(sample);
            totals.unmanaged = std::max(totals.unmanaged, outcome.unmanaged_bytes);
            if (!outcome.program.out_of_memory.empty()) {
                fits = false;
                totals.thrashed += outcome.program.thrashing;
                if (totals.why.empty()) totals.why = outcome.program.out_of_memory;
                continue;
            }
            if (slowest == nullptr || outcome.ns() > outcomes_.at(*slowest).ns()) slowest = &sample;
            totals.on_demand += outcome.program.on_demand;
            totals.broken += outcome.broken.size();
        }
        if (!fits) {
            ++totals.failed;
            continue;
        }
        const Outcome& outcome = outcomes_.at(*slowest);
        totals.latency_us.push_back((outcome.ns() + overhead_ns) * 1e-3);
        if (totals.batches.size() < kMaxListed)
            totals.batches.push_back({{"batch", step},
                                      {"path", slowest->first},
                                      {"predicted", slowest->second},
                                      {"latency_us", totals.latency_us.back()}});
        totals.add(outcome);
    }
    return totals;
}

ordered_json TrainingPlan::summary(const StepTotals& totals, double overhead_ns) const {
    const std::size_t trained = totals.latency_us.size();
    const double n = trained > 0 ? static_cast<double>(trained) : 1;
    const TrainingConfig& training = platform_.training;
    ordered_json summary{{"batches", samples_.size() / training.gpus},
                         {"trained", trained},
                         {"out_of_memory", totals.failed},
                         {"thrashing", totals.thrashed},
                         {"distinct_steps", outcomes_.size()},
                         {"mispredictions", mispredictions_},
                         {"misprediction_records", records_}};
    if (trained > 0) {
        double all = 0;
        for (const double us : totals.latency_us) all += us;
        summary["latency_us"] = latency_json(totals.latency_us);
        summary["samples_per_second"] =
            network_.config.batch * training.gpus * static_cast<double>(trained) / all * 1e6;
        summary["over_unlimited_memory"] = all * 1e3 / totals.base;
        summary["breakdown_us"] = {{"compute", totals.compute / n * 1e-3},
                                   {"recompute", totals.recompute / n * 1e-3},
                                   {"migration not hidden", totals.waiting / n * 1e-3},
                                   {"page faults", totals.fault / n * 1e-3},
                                   {"copies on the device", totals.carried / n * 1e-3},
                                   {"pilot and mapping", overhead_ns * 1e-3},
                                   {"manager", totals.manage / n * 1e-3},
                                   {"all-reduce not hidden", totals.exposed / n * 1e-3}};
        summary["host_optimiser_us"] = totals.host / n * 1e-3;
        summary["recompute_over_compute"] = totals.recompute / totals.base;
    }
    summary["peak_device_bytes"] = totals.peak;
    summary["peak_host_bytes"] = totals.host_peak;
    summary["unmanaged_peak_bytes"] = totals.unmanaged;
    summary["budget_bytes"] = platform_.budget_bytes();
    const double pj =
        8 * ((totals.to_device + totals.to_host) * (training.link_pj_per_bit + training.device_pj_per_bit) +
             2 * totals.carried_bytes * training.device_pj_per_bit);
    summary["migration_uj"] = pj / n * 1e-6;
    return summary;
}

std::vector<Check> TrainingPlan::checks(const StepTotals& totals) const {
    const std::size_t trained = totals.latency_us.size(), steps = samples_.size() / platform_.training.gpus;
    Checks checks;
    checks.equal("training steps = trained + out of memory", static_cast<double>(steps),
                 static_cast<double>(trained + totals.failed));
    checks.at_most("bytes of device memory", static_cast<double>(platform_.budget_bytes()),
                   static_cast<double>(totals.peak));
    if (trained > 0)
        checks.equal("operators take their own time once", totals.base - totals.elsewhere, totals.compute, 1e-6);
    if (platform_.training.functional && design_ != kUvm)
        checks.equal("rules broken in the replay with contents", 0, static_cast<double>(totals.broken));
    return checks.take();
}

ordered_json TrainingPlan::run() {
    if (platform_.training.impl == "tlm") simulate();
    const double overhead_ns =
        design_ == kDynnOffload ? (platform_.training.pilot_us + platform_.training.mapping_us) * 1e3 : 0;
    const StepTotals totals = this->totals(overhead_ns);
    check_limits(totals.failed, totals.why, totals.latency_us, totals.base);
    const std::vector<Check> held = checks(totals);
    ordered_json report{{"format", "switchyard-report"},
                        {"version", 1},
                        {"ok", std::all_of(held.begin(), held.end(), [](const Check& check) { return check.ok; })},
                        {"model", network_.name},
                        {"design", design_},
                        {"fidelity", {{"memory", platform_.training.impl}}},
                        {"summary", summary(totals, overhead_ns)},
                        {"counters",
                         {{"to_device_bytes", totals.to_device},
                          {"to_host_bytes", totals.to_host},
                          {"carried_bytes", totals.carried_bytes},
                          {"fetched_in_vain_bytes", totals.vain},
                          {"on_demand_fetches", totals.on_demand},
                          {"page_faults", totals.faults},
                          {"fault_batches", totals.fault_batches},
                          {"evictions", totals.evictions},
                          {"recomputed_operators", totals.recomputed},
                          {"examined_candidates", totals.examined},
                          {"fragmented_allocations", totals.fragmented}}},
                        {"batches", totals.batches},
                        {"conservation", checks_json(held)}};
    if (!totals.why.empty()) report["out_of_memory"] = totals.why;
    return report;
}

}  // namespace

}  // namespace dynn_offload_system

namespace {

using namespace dynn_offload_system;

class DynnOffloadSystem : public System {
public:
    std::string name() const override { return "dynn_offload"; }
    std::string summary() const override { return "training of dynamic networks that do not fit device memory"; }
    std::vector<SystemDesign> designs() const override {
        std::vector<SystemDesign> designs;
        for (const char* const design : {kUnmanaged, kUvm, kDtr, kZeroOffload, kOracle, kDynnOffload}) {
            std::vector<WorkKey> work{WorkKey::batches};
            if (design != kZeroOffload) work.push_back(WorkKey::seed);  // its networks have one path
            designs.push_back({design, {}, "", true, std::move(work)});
        }
        return designs;
    }
    void check_workload(const Point& point) const override {
        std::map<std::string, std::string> overrides;
        sched::read_training_network(point.workload, {}, overrides);
    }
    void check_platform(const Point& point) const override { read_training_platform(point.platform, point.overrides); }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        return std::make_unique<TrainingPlan>(point);
    }
    std::string table(const ordered_json& report) const override {
        const ordered_json& summary = report.at("summary");
        std::string text = report_row("training steps", std::to_string(summary.at("batches").get<std::uint64_t>()));
        if (summary.contains("latency_us"))
            text +=
                report_row("a step", fmt::format("{:.1f} ms", number_of(summary.at("latency_us").at("mean")) * 1e-3)) +
                report_row("over unlimited memory",
                           fmt::format("{:.3f}", number_of(summary.at("over_unlimited_memory"))));
        text += report_row("out of memory", std::to_string(summary.at("out_of_memory").get<std::uint64_t>())) +
                report_row("device memory, peak",
                           fmt::format("{:.2f} GB of {:.2f}", number_of(summary.at("peak_device_bytes")) * 1e-9,
                                       number_of(summary.at("budget_bytes")) * 1e-9)) +
                report_row("unmanaged", fmt::format("{:.2f} GB", number_of(summary.at("unmanaged_peak_bytes")) * 1e-9));
        if (report.contains("out_of_memory")) text += report_row("because", text_of(report.at("out_of_memory")));
        return text + check_rows(report.at("conservation"));
    }
    std::string parameters_markdown() const override {
        return section_markdown("training", "training steps of DyNN-Offload, a section of a platform file",
                                training_keys());
    }
};

}  // namespace

std::unique_ptr<System> make_dynn_offload_system() {
    return std::make_unique<DynnOffloadSystem>();
}

}  // namespace switchyard::platform
