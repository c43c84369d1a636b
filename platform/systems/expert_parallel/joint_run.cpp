// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/expert_parallel/joint_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/hw/link/link_network.h"
#include "switchyard/platform/system/joint_run.h"
#include "switchyard/platform/systems/expert_parallel/cell_links.h"
#include "switchyard/platform/systems/expert_parallel/expert_parallel_report.h"
#include "switchyard/platform/systems/expert_parallel/placed_part.h"
#include "switchyard/platform/systems/expert_parallel/shared_chip.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform::expert_parallel {

namespace {

double now_us() {
    return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_US);
}

double latest_of(const std::vector<double>& us) {
    return *std::max_element(us.begin(), us.end());
}

/// A part of the plan on one chip.
struct Placed {
    Placed(std::size_t number, bool first, bool last) : part(number), model(first, last) {}
    std::size_t part;  ///< in ChipParts::parts()
    PlacedPart model;
    std::unique_ptr<ElaboratedRun> run;
};
using PlacedParts = std::vector<std::vector<std::unique_ptr<Placed>>>;  ///< [chip][step]; null: no part

/// Their models stand beside each other, none in another module: counters are found by the names of a chip's modules.
PlacedParts elaborate(const ExpertParallelConfig& config, const ChipParts& parts) {
    PlacedParts all(config.links.devices);
    const std::size_t steps = 2 * parts.experts.size() + 1;
    for (std::size_t d = 0; d < all.size(); ++d)
        for (std::size_t step = 0; step < steps; ++step) {
            const std::optional<std::size_t> part =
                step % 2 == 0 ? parts.between[step / 2] : parts.experts[step / 2][d];
            all[d].push_back(nullptr);
            if (!part) continue;
            auto placed = std::make_unique<Placed>(*part, step == 0, step + 1 == steps);
            placed->run =
                parts.parts()[*part]->plan->elaborate(fmt::format("chip_{}_step_{}_", d, step), placed->model);
            if (!placed->run)
                throw InputError(
                    "", 0, "cluster.simulation",
                    fmt::format("expected a chip_design whose models share a simulation, found joint with {}; "
                                "take separate",
                                config.cluster.chip_design));
            all[d].back() = std::move(placed);
        }
    return all;
}

/// All chips, the links, and the order of what they do. Steps of a batch on a chip: what is in front of the first layer
/// of experts, its experts, what follows, and so on; behind each step but the last one an exchange of messages.
class Cluster : public sc_core::sc_module {
public:
    Cluster(const sc_core::sc_module_name& module_name, const ExpertParallelConfig& config, const PlacedParts& placed,
            const std::vector<std::vector<Exchange>>& exchanges)
        : sc_module(module_name),
          config_(config),
          exchanges_(exchanges),
          placed_(placed),
          steps_(placed.front().size()),
          ended_("ended"),
          links_("links", config.links.devices) {
        SWITCHYARD_HAS_PROCESS(Cluster);
        for (std::size_t d = 0; d < placed.size(); ++d) add_chip(d);
        if (config.topology) {
            hw::LinkNetwork::Config network;
            network.messages = config.links.messages;
            network_ = std::make_unique<hw::LinkNetwork>("network", network, registry_, config.topology);
        } else {
            // One chip sends nothing, and each socket wants to be bound.
            links_.to_links[0].bind(links_.from_links[0]);
        }
        for (unsigned d = 0; network_ && d < config.links.devices; ++d) {
            links_.to_links[d].bind(network_->in[d]);
            network_->out[d].bind(links_.from_links[d]);
        }
        batches_.resize(exchanges.size());
        SC_THREAD(feed);
    }

    JointOutcome outcome(const ChipParts& parts);

private:
    struct Batch {
        double begin_us = 0, end_us = 0;
        std::size_t chips_ended = 0;
        std::vector<CellLinks::Exchange> exchanges;          ///< behind each step
        std::vector<std::vector<double>> ready_us, come_us;  ///< [step][chip]
        BatchTimes times;
    };

    void add_parts(const ChipParts& parts, JointOutcome& outcome) const;
    ChipTimes chip_times(std::size_t b) const;
    BatchTimes batch_times(const Batch& batch, const ChipTimes& chips) const;

    void add_chip(std::size_t d) {
        std::vector<PlacedPart*> steps;
        for (const std::unique_ptr<Placed>& placed : placed_[d]) steps.push_back(placed ? &placed->model : nullptr);
        chips_.push_back(std::make_unique<SharedChip>(fmt::format("chip_{}", d).c_str(), std::move(steps),
                                                      config_.cluster.weights == "reloaded"));
        chips_.back()->set_ended([this, d](std::size_t batch, std::size_t step) { step_ended(batch, step, d); });
    }

    void feed() {
        for (const auto& chip : chips_) chip->await_warm_up();
        const std::size_t in_flight = config_.cluster.batches_in_flight;
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            while (b >= in_flight && batches_[b - in_flight].chips_ended < chips_.size()) wait(ended_);
            Batch& batch = batches_[b];
            batch.begin_us = now_us();
            batch.exchanges.resize(steps_ - 1);
            batch.ready_us.assign(steps_ - 1, std::vector<double>(chips_.size()));
            batch.come_us = batch.ready_us;
            for (const auto& chip : chips_) chip->ready(b, 0);
        }
    }

    void step_ended(std::size_t b, std::size_t step, std::size_t d) {
        Batch& batch = batches_[b];
        if (step + 1 == steps_) {
            batch.end_us = now_us();
            ++batch.chips_ended;
            ended_.notify(sc_core::SC_ZERO_TIME);
            return;
        }
        batch.ready_us[step][d] = now_us();
        CellLinks::Exchange& exchange = batch.exchanges[step];
        if (!exchange)
            exchange = links_.begin(messages_behind(b, step), [this, b, step](unsigned to) { come(b, step, to); });
        links_.sender_ready(exchange, static_cast<unsigned>(d));
    }

    void come(std::size_t b, std::size_t step, unsigned d) {
        batches_[b].come_us[step][d] = now_us();
        chips_[d]->ready(b, step + 1);
    }

    sched::CollectiveProgram messages_behind(std::size_t b, std::size_t step) {
        if (!config_.topology) {
            sched::CollectiveProgram none;
            none.devices = 1;
            return none;
        }
        sched::CollectiveProgram program = all_to_all(*config_.topology, exchanges_[b][step / 2], step % 2 != 0);
        count_bytes(*config_.topology, program, batches_[b].times);
        return program;
    }

    const ExpertParallelConfig& config_;
    const std::vector<std::vector<Exchange>>& exchanges_;
    const PlacedParts& placed_;
    std::size_t steps_;
    SimulationRegistry registry_;
    sc_core::sc_event ended_;
    CellLinks links_;
    std::unique_ptr<hw::LinkNetwork> network_;
    std::vector<std::unique_ptr<SharedChip>> chips_;
    std::vector<Batch> batches_;
};

JointOutcome Cluster::outcome(const ChipParts& parts) {
    JointOutcome outcome;
    add_parts(parts, outcome);
    for (std::size_t b = 0; b < batches_.size(); ++b) {
        if (batches_[b].chips_ended < chips_.size())
            throw std::runtime_error(fmt::format("batch {}: expected its end on {} chips, found it on {}", b,
                                                 chips_.size(), batches_[b].chips_ended));
        outcome.chips.push_back(chip_times(b));
        outcome.times.push_back(batch_times(batches_[b], outcome.chips.back()));
    }
    outcome.run_us = batches_.back().end_us - batches_.front().begin_us;
    for (const auto& chip : chips_) {
        outcome.chip_busy.push_back(chip->stats().busy_us / outcome.run_us);
        outcome.reloads.push_back(static_cast<double>(chip->stats().reloads) / static_cast<double>(batches_.size()));
    }
    outcome.sent_bytes = links_.stats().sent_bytes;
    outcome.received_bytes = links_.stats().received_bytes;
    for (unsigned c = 0; network_ && c < config_.topology->channels(); ++c) {
        const hw::MessageEngine::ChannelStats& channel = network_->messages().channel(c);
        outcome.channel_bytes.push_back(channel.bytes);
        outcome.channel_busy.push_back(static_cast<double>(channel.busy_ps) * 1e-6 / outcome.run_us);
    }
    return outcome;
}

/// What the parts' models say, a mean where several chips have a part.
void Cluster::add_parts(const ChipParts& parts, JointOutcome& outcome) const {
    const std::size_t count = parts.parts().size(), batches = batches_.size();
    outcome.part_us.resize(count);
    outcome.reload_us.resize(count);
    outcome.reloaded_us.resize(count);
    std::vector<double> chips(count);
    for (std::size_t d = 0; d < placed_.size(); ++d)
        for (std::size_t step = 0; step < steps_; ++step) {
            const Placed* const placed = placed_[d][step].get();
            if (placed == nullptr) continue;
            const nlohmann::ordered_json report = placed->run->report();
            add_outside(fmt::format("{} on chip {}", parts.parts()[placed->part]->name, d), report, outcome.outside);
            if (!report.value("ok", true))
                outcome.failed.push_back(fmt::format("{} on chip {}", parts.parts()[placed->part]->name, d));
            outcome.part_us[placed->part].resize(batches);
            for (std::size_t b = 0; b < batches; ++b)
                outcome.part_us[placed->part][b] += placed->model.batch_us().at(b);
            outcome.reload_us[placed->part] += placed->model.reload_us();
            outcome.reloaded_us[placed->part] += chips_[d]->reloaded_us(step) / static_cast<double>(batches);
            chips[placed->part] += 1;
        }
    for (std::size_t part = 0; part < count; ++part) {
        if (chips[part] == 0) continue;
        for (double& value : outcome.part_us[part]) value /= chips[part];
        outcome.reload_us[part] /= chips[part];
        outcome.reloaded_us[part] /= chips[part];
    }
}

/// What a batch's parts take by themselves, their weights included.
ChipTimes Cluster::chip_times(std::size_t b) const {
    const bool reloads = config_.cluster.weights == "reloaded";
    ChipTimes times;
    for (std::size_t step = 0; step < steps_; ++step) {
        std::vector<double> us;
        for (const auto& chip : placed_) {
            const Placed* const placed = chip[step].get();
            us.push_back(
                placed == nullptr ? 0 : placed->model.batch_us().at(b) + (reloads ? placed->model.reload_us() : 0));
        }
        if (step % 2 == 0)
            times.between_us.push_back(latest_of(us));
        else
            times.experts_us.push_back(std::move(us));
    }
    return times;
}

BatchTimes Cluster::batch_times(const Batch& batch, const ChipTimes& chips) const {
    BatchTimes times = batch.times;
    times.latency_us = batch.end_us - batch.begin_us;
    for (const double us : chips.between_us) times.chips_us += us;
    for (const std::vector<double>& us : chips.experts_us) times.chips_us += latest_of(us);
    for (std::size_t step = 0; step + 1 < steps_; ++step)
        (step % 2 == 0 ? times.dispatch_us : times.return_us) +=
            latest_of(batch.come_us[step]) - latest_of(batch.ready_us[step]);
    return times;
}

}  // namespace

JointOutcome run_joint(const ExpertParallelConfig& config, const ChipParts& parts,
                       const std::vector<std::vector<Exchange>>& exchanges) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    const PlacedParts placed = elaborate(config, parts);
    Cluster cluster("cluster", config, placed, exchanges);
    sc_core::sc_start();
    return cluster.outcome(parts);
}

}  // namespace switchyard::platform::expert_parallel
