// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/config_section.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/sushi/sushi_report.h"
#include "switchyard/platform/systems/sushi/sushi_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/input_file.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/replaceable.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

constexpr const char* kTableDesign = "sushi-table";
constexpr const char* kFileKey = "file";
constexpr const char* kJobsKey = "jobs";

class SushiPlan : public Plan {
public:
    explicit SushiPlan(const Point& point)
        : config_(sushi::read_sushi_config(point.platform, point.overrides)),
          design_(sushi::sushi_design(point.design)),
          work_(sushi::prepare_work(point.workload, config_, design_, point.work.batches,
                                    point.work.seed ? &*point.work.seed : nullptr)) {}

    ordered_json cost() const override {
        return {{"subnets", work_.table.subnets.size()}, {"subgraphs", work_.table.subgraphs.size()}};
    }
    bool depends_on_seed() const override { return config_.queries.draws(); }
    ordered_json run() override {
        const sushi::SupernetMemory memory = sushi::lay_out(work_.supernet, work_.table.subgraphs);
        return sushi::sushi_report(work_, config_, design_, memory, sushi::run_sushi(work_, config_, design_, memory));
    }

private:
    sushi::SushiConfig config_;
    sushi::SushiDesign design_;
    sushi::SushiWork work_;
};

/// Fills the latency table of a platform and keeps it in a file: a file that is there and was made for this platform
/// stays.
class TablePlan : public Plan {
public:
    explicit TablePlan(const Point& point)
        : config_(sushi::read_sushi_config(point.platform, point.overrides)),
          supernet_(sched::sushi::read_supernet(point.workload)),
          file_(point.parameters.at(kFileKey)),
          jobs_(std::max(1U, std::thread::hardware_concurrency())) {
        const auto jobs = point.parameters.find(kJobsKey);
        if (jobs != point.parameters.end()) parse_plain_number(jobs->second, jobs_);
    }

    ordered_json run() override {
        bool reused = false;
        sched::sushi::LatencyTable table;
        if (exists(file_)) {
            try {
                table = read_table(file_, supernet_, config_.fingerprint(supernet_, config_.buffers));
                reused = true;
            } catch (const InputError&) {
                // Of another platform: made again.
            }
        }
        if (!reused) {
            check_replaceable(file_);
            std::vector<sched::sushi::SubGraph> subgraphs = sushi::subgraphs_of(supernet_, config_, config_.buffers);
            table = config_.accelerator.impl == "analytic"
                        ? sushi::closed_form_table(supernet_, config_, config_.buffers, std::move(subgraphs))
                        : sushi::simulated_table(supernet_, config_, config_.buffers, std::move(subgraphs), jobs_);
            make_folder_of(file_);
            write_file(table_text(table), file_);
        }
        return {
            {"format", "switchyard-report"},
            {"version", 1},
            {"ok", true},
            {"model", supernet_.name},
            {"design", kTableDesign},
            {"fidelity", {{"accelerator", config_.accelerator.impl}}},
            {"summary", {{"subnets", table.subnets.size()}, {"subgraphs", table.subgraphs.size()}, {"reused", reused}}},
            {"conservation", ordered_json::array()}};
    }

private:
    sushi::SushiConfig config_;
    sched::sushi::Supernet supernet_;
    std::string file_;
    unsigned jobs_ = 1;
};

class SushiSystem : public System {
public:
    std::string name() const override { return "sushi"; }
    std::string summary() const override {
        return "a supernet served from a persistent buffer, and what it is compared with";
    }
    std::vector<SystemDesign> designs() const override {
        std::vector<SystemDesign> designs;
        for (const sushi::SushiDesign& design : sushi::sushi_designs())
            designs.push_back({design.name, {}, "", true, {WorkKey::batches, WorkKey::seed}});
        designs.push_back({kTableDesign, {kFileKey, kJobsKey}, "table", true, {}});
        return designs;
    }
    std::string parameter_error(const std::string& design, const std::string& key,
                                const std::string& value) const override {
        std::string error = System::parameter_error(design, key, value);
        unsigned jobs = 0;
        if (error.empty() && key == kJobsKey && (parse_plain_number(value, jobs) != Parsed::ok || jobs == 0))
            return fmt::format("expected a number of processes, found {}", value);
        return error;
    }
    void check_parameters(const Point& point) const override {
        System::check_parameters(point);
        if (point.design == kTableDesign && point.parameters.count(kFileKey) == 0)
            throw InputError("", 0, kFileKey, "expected a file to write for sushi-table, found none");
    }
    void check_workload(const Point& point) const override { sched::sushi::read_supernet(point.workload); }
    void check_platform(const Point& point) const override {
        sushi::read_sushi_config(point.platform, point.overrides);
    }
    std::unique_ptr<Plan> prepare(const Point& point) const override {
        check_parameters(point);
        if (point.design == kTableDesign) return std::make_unique<TablePlan>(point);
        return std::make_unique<SushiPlan>(point);
    }
    std::string table(const ordered_json& report) const override {
        const ordered_json& summary = report.at("summary");
        if (text_of(report.at("design")) == kTableDesign)
            return report_row("latency table",
                              fmt::format("{} SubNets x {} SubGraphs", summary.at("subnets").get<std::size_t>(),
                                          summary.at("subgraphs").get<std::size_t>()));
        return report_row("queries", std::to_string(summary.at("batches").get<std::uint64_t>())) +
               report_row("latency of a query",
                          fmt::format("{:.1f} us", number_of(summary.at("latency_us").at("mean")))) +
               report_row("response, p99", fmt::format("{:.1f} us", number_of(summary.at("response_us").at("p99")))) +
               report_row("accuracy", fmt::format("{:.2f} %", number_of(summary.at("accuracy")))) +
               report_row("constraints not met", std::to_string(summary.at("unmet").get<std::uint64_t>())) +
               report_row("SubGraphs fetched", std::to_string(summary.at("fills").get<std::uint64_t>())) +
               check_rows(report.at("conservation"));
    }
    std::string parameters_markdown() const override {
        return section_markdown("sushi",
                                "the accelerator of SUSHI, its host and its queries, sections of a platform file",
                                sushi::sushi_keys());
    }
};

}  // namespace

std::unique_ptr<System> make_sushi_system() {
    return std::make_unique<SushiSystem>();
}

}  // namespace switchyard::platform
