// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/process_pool.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system_registry.h"
#include "switchyard/platform/systems/expert_parallel/expert_parallel_report.h"
#include "switchyard/platform/systems/expert_parallel/joint_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/json_text.h"

namespace switchyard::platform {

using nlohmann::ordered_json;
using namespace expert_parallel;

namespace {

/// What a part's report says of each batch.
std::vector<double> latencies_of(const ordered_json& report) {
    std::vector<double> us;
    for (const ordered_json& batch : report.at("batches")) us.push_back(batch.at("latency_us").get<double>());
    return us;
}

class ExpertParallelPlan : public Plan {
public:
    ExpertParallelPlan(const Point& point, const SystemRegistry& chips)
        : config_(read_expert_parallel_config(point.platform, point.overrides)),
          work_(read_divided_work(point, config_)),
          parts_(point, config_, chips, work_) {}

    ordered_json cost() const override {
        ordered_json sum = ordered_json::object();
        for (const auto& part : parts_.parts()) {
            const ordered_json cost = part->plan->cost();
            for (const auto& [key, value] : cost.items())
                if (value.is_number_unsigned())
                    sum[key] = sum.value(key, std::uint64_t{0}) + value.get<std::uint64_t>();
        }
        return sum;
    }

    bool depends_on_seed() const override { return work_.source.kind == sched::kGenerator; }

    ordered_json run() override {
        ClusterOutcome outcome;
        if (work_.parts)
            for (const sched::brainstorm::DeviceRoutes& batch : work_.batches)
                outcome.exchanges.push_back(exchanges_of(batch));
        if (work_.parts && config_.cluster.joint()) {
            run_together(outcome);
        } else {
            run_separately(outcome);
            if (work_.parts) time_batches(outcome);
        }
        if (config_.topology) outcome.fidelity["links"] = "messages";
        return expert_parallel_report(config_, work_, parts_, outcome);
    }

private:
    /// Each part by itself: SystemC elaborates once a process.
    void run_separately(ClusterOutcome& outcome) const {
        const std::size_t count = parts_.parts().size();
        outcome.part_us.resize(count);
        outcome.reload_us.resize(count);
        run_in_processes(
            count, 1, [&](std::size_t i) { return json_text(parts_.parts()[i]->plan->run()); },
            [&](std::size_t i, const std::string& text, double) {
                const ordered_json report = parse_ordered_json(text, "answer of a process");
                if (i == parts_.alone) return take_alone(report, outcome);
                std::vector<double> us = latencies_of(report);
                outcome.reload_us[i] = std::max(0.0, us.at(0) - us.at(1));
                us.erase(us.begin());
                outcome.part_us[i] = std::move(us);
                add_outside(parts_.parts()[i]->name, report, outcome.outside);
                if (!report.value("ok", true)) outcome.failed.push_back(parts_.parts()[i]->name);
            });
        outcome.reloaded_us = outcome.reload_us;
        if (config_.cluster.weights != "reloaded") outcome.reloaded_us.assign(count, 0);
    }

    /// All chips and links in one simulation; the network on one chip in another one.
    void run_together(ClusterOutcome& outcome) const {
        ordered_json alone;
        run_in_processes(
            2, 1,
            [&](std::size_t i) {
                return i == 0 ? json_text(parts_.parts()[parts_.alone]->plan->run())
                              : text_of(run_joint(config_, parts_, outcome.exchanges));
            },
            [&](std::size_t i, const std::string& text, double) {
                if (i == 0)
                    alone = parse_ordered_json(text, "answer of a process");
                else
                    outcome.joint = joint_outcome(text);
            });
        outcome.part_us = outcome.joint->part_us;
        outcome.reload_us = outcome.joint->reload_us;
        outcome.reloaded_us = outcome.joint->reloaded_us;
        outcome.failed = outcome.joint->failed;
        outcome.outside = outcome.joint->outside;
        outcome.times = outcome.joint->times;
        outcome.channel_bytes = outcome.joint->channel_bytes;
        take_alone(alone, outcome);
        outcome.fidelity["simulation"] = "chips and links together";
        for (std::size_t b = 0; b < outcome.times.size(); ++b)
            outcome.without_overlap.push_back(
                time_batch(config_.topology, config_.links.messages, outcome.joint->chips[b], outcome.exchanges[b]));
    }

    void take_alone(const ordered_json& report, ClusterOutcome& outcome) const {
        outcome.part_us[parts_.alone] = latencies_of(report);
        add_outside(parts_.parts()[parts_.alone]->name, report, outcome.outside);
        if (!report.value("ok", true)) outcome.failed.push_back(parts_.parts()[parts_.alone]->name);
        outcome.fidelity = report.value("fidelity", ordered_json::object());
    }

    void time_batches(ClusterOutcome& outcome) const {
        for (std::size_t b = 0; b < work_.batches.size(); ++b) {
            const auto time_of = [&](const std::optional<std::size_t>& part) {
                if (!part) return 0.0;
                return outcome.part_us[*part].at(b) + outcome.reloaded_us[*part];
            };
            ChipTimes chips;
            for (const std::optional<std::size_t>& part : parts_.between) chips.between_us.push_back(time_of(part));
            for (const auto& layer : parts_.experts) {
                chips.experts_us.emplace_back();
                for (const std::optional<std::size_t>& part : layer) chips.experts_us.back().push_back(time_of(part));
            }
            outcome.times.push_back(time_batch(config_.topology, config_.links.messages, chips, outcome.exchanges[b]));
            const std::vector<std::uint64_t>& bytes = outcome.times.back().bytes_of_channel;
            outcome.channel_bytes.resize(bytes.size());
            for (std::size_t c = 0; c < bytes.size(); ++c) outcome.channel_bytes[c] += bytes[c];
        }
    }

    /// By layer of experts.
    std::vector<Exchange> exchanges_of(const sched::brainstorm::DeviceRoutes& batch) const {
        std::vector<Exchange> exchanges;
        for (std::size_t i = 0; i < work_.parts->layers().size(); ++i) {
            const sched::brainstorm::ExpertLayer& layer = work_.parts->layers()[i];
            Exchange exchange;
            exchange.counts = sched::brainstorm::cells_between(batch, work_.placement[i], layer.switch_id);
            exchange.cell_bytes = layer.cell.bytes();
            exchange.result_bytes = layer.result.bytes();
            exchange.padded = config_.cluster.all_to_all == "padded";
            exchange.padded_cells = sched::brainstorm::padded_pair_cells(batch, layer.experts(), layer.switch_id);
            exchange.costs = config_.links.costs();
            exchanges.push_back(std::move(exchange));
        }
        return exchanges;
    }

    ExpertParallelConfig config_;
    DividedWork work_;
    ChipParts parts_;
};

/// The experts of one network on several chips of another system, joined by links.
class ExpertParallelSystem : public System {
public:
    explicit ExpertParallelSystem(SystemRegistry chips) : chips_(std::move(chips)) {}

    std::string name() const override { return "expert_parallel"; }
    std::string summary() const override {
        return "the experts of a network on several chips of another system, joined by links";
    }
    std::vector<SystemDesign> designs() const override { return {{"expert-parallel", {}, "", true, all_work_keys()}}; }
    void check_workload(const Point& point) const override { sched::read_model(point.workload); }
    void check_platform(const Point& point) const override { checked_config(point); }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        checked_config(point);
        return std::make_unique<ExpertParallelPlan>(point, chips_);
    }
    std::string table(const ordered_json& report) const override {
        const ordered_json& summary = report.at("summary");
        const auto row = [&](const char* title, const char* key, const char* unit) {
            return summary.contains(key) ? report_row(title, fmt::format("{:.3f}{}", number_of(summary.at(key)), unit))
                                         : std::string();
        };
        std::string text =
            report_row("chips", fmt::format("{} x {}", summary.at("devices").get<unsigned>(),
                                            text_of(report.at("chip_design")))) +
            report_row("topology", text_of(report.at("topology"))) +
            report_row("latency of a batch", fmt::format("{:.3f} us", number_of(summary.at("latency_us").at("mean")))) +
            row("on chips", "chips_us", " us") + row("on links", "links_us", " us") +
            row("a batch in a stream", "period_us", " us") + row("hidden by overlap", "hidden_us", " us") +
            row("one chip alone, its own batch", "alone_us", " us") +
            row("samples a second, over one chip", "speedup_over_alone", "") +
            row("between chips, a batch", "between_chips_mb_of_a_batch", " MB");
        if (summary.contains("busiest_link"))
            text += row(("busiest link, " + text_of(summary.at("busiest_link"))).c_str(), "busiest_link_mb_of_a_batch",
                        " MB");
        return text + check_rows(report.at("conservation"));
    }
    std::string parameters_markdown() const override {
        return section_markdown("expert_parallel",
                                "chips with a network's experts on them and their links, sections of a platform file "
                                "(`chip_file` names that of a chip)",
                                expert_parallel_keys());
    }

private:
    ExpertParallelConfig checked_config(const Point& point) const {
        ExpertParallelConfig config = read_expert_parallel_config(point.platform, point.overrides);
        const System& chip = chips_.system_of_design(config.cluster.chip_design);
        const Point own = chip_point(point, config, chips_.design(config.cluster.chip_design));
        chip.check_parameters(own);
        chip.check_platform(own);
        return config;
    }

    SystemRegistry chips_;
};

}  // namespace

/// `chips`: the systems that a chip may be of.
std::unique_ptr<System> make_expert_parallel_system(SystemRegistry chips) {
    return std::make_unique<ExpertParallelSystem>(std::move(chips));
}

}  // namespace switchyard::platform
