// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/pilot_command.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::platform {

using namespace switchyard::dynn_offload;

namespace {

std::string beside(const std::string& file, const std::string& name) {
    const std::size_t slash = file.find_last_of('/');
    return name.empty() || name.front() == '/' || slash == std::string::npos ? name : file.substr(0, slash + 1) + name;
}

sched::TrainingNetwork read_network(const std::string& path, const std::string& gpu,
                                    std::map<std::string, std::string> overrides) {
    sched::TrainingNetwork network =
        sched::read_training_network(path, describe_gpu(read_gpu_platform(gpu)), overrides);
    if (!overrides.empty()) {
        const std::string& key = overrides.begin()->first;
        throw InputError("--set", 0, key, "expected a known key, found " + key);
    }
    return network;
}

/// A network of a list, with how many samples of which seed are drawn.
struct Listed {
    sched::TrainingNetwork network;
    std::uint64_t seed, samples;
    std::string changes;  ///< "width=64 corpus_seed=101"
};

bool lists_networks(const std::string& path, const std::string& section) {
    const YAML::Node root = load_yaml(path);
    return root.IsMap() && root[section];
}

/// Visits the networks that a file lists: `SECTION: {seed, networks: [{file, gpu, samples, set}]}`, one after another.
template <class F>
void for_listed(const std::string& path, const std::string& section, const F& visit) {
    const YAML::Node root = load_yaml(path);
    if (!root.IsMap() || !root[section]) throw InputError(path, 0, section, "missing");
    sched::MappingReader reader(root[section], path, section);
    const std::uint64_t seed = reader.integer("seed", 0, 0x7FFFFFFF);
    std::uint64_t number = 0;
    for (const YAML::Node& node : reader.list("networks")) {
        sched::MappingReader entry(node, path, fmt::format("{}.networks[{}]", section, number));
        const std::string file = beside(path, entry.text("file")), gpu = beside(path, entry.text("gpu"));
        const std::uint64_t samples = entry.integer("samples", 1, 10000000);
        std::map<std::string, std::string> overrides;
        std::vector<std::string> changes;
        if (entry.has("set")) {
            const sched::MappingReader set = entry.mapping("set");
            for (const auto& [key, value] : set.nodes()) {
                overrides["training." + key] = set.scalar(value, key);
                changes.push_back(key + "=" + overrides["training." + key]);
            }
        }
        entry.finish();
        visit(Listed{read_network(file, gpu, overrides), seed + number, samples,
                     fmt::format("{}", fmt::join(changes, " "))});
        ++number;
    }
    reader.finish();
}

std::vector<PilotTrace> recorded(const std::string& path, Representation representation) {
    std::vector<PilotTrace> traces;
    for_listed(path, "pilot_training", [&](const Listed& listed) {
        BlockPlanner planner(listed.network, label_partition(listed.network));
        traces.push_back(record_trace(listed.network, planner, representation, listed.seed, listed.samples));
    });
    return traces;
}

}  // namespace

void PilotCommand::add_to(CLI::App& app) {
    command_ = app.add_subcommand("pilot", "DyNN-Offload: record traces, train, evaluate and show the pilot");
    command_->require_subcommand(1);

    trace_ = command_->add_subcommand("trace", "record what a pilot is trained with from one network");
    trace_->add_option("network", network_, "description of the network (YAML)")->required();
    trace_->add_option("--gpu", gpu_, "file of configs/gpus whose kernel times are used")->required();
    trace_->add_option("--set", settings_, "KEY=VALUE: overrides a key of the description");
    trace_->add_option("--samples", samples_, "default: 3000")->check(whole_number(1, 10000000));
    trace_->add_option("--seed", seed_, "of the samples; default: 1")->check(whole_number(0));
    trace_->add_option("--representation", representation_, "idiom or global_id; default: idiom");
    trace_->add_option("-o,--output", output_, "trace to write (JSON Lines)")->required();

    train_ = command_->add_subcommand("train", "train a pilot");
    train_->add_option("inputs", inputs_, "traces, or descriptions of which networks to take them from")->required();
    train_->add_option("--neurons", config_.neurons, "of the first hidden layer; default: 512")
        ->check(whole_number(1, 1 << 20));
    train_->add_option("--epochs", config_.epochs, "default: 20")->check(whole_number(1, 100000));
    train_->add_option("--seed", config_.seed, "of the weights and of the order of the samples; default: 1")
        ->check(whole_number(0));
    train_->add_option("--learning-rate", config_.learning_rate, "default: 0.01");
    train_->add_option("--momentum", config_.momentum, "default: 0.9");
    train_->add_option("--falling-share", config_.falling_share,
                       "of the epochs, over which the rate falls; default: 0.5");
    train_->add_option("--batch", config_.batch, "samples of an update; default: 8")->check(whole_number(1, 4096));
    train_->add_option("--max-gradient", config_.max_gradient, "norm of a batch's gradient; default: 1");
    train_->add_option("--sample-layer", config_.sample_layer, "neurons")->check(whole_number(1, 4096));
    train_->add_option("--matrix-layer", config_.matrix_layer, "neurons")->check(whole_number(1, 4096));
    train_->add_option("--second-layer", config_.second_layer, "neurons")->check(whole_number(1, 4096));
    train_->add_option("--representation", representation_, "idiom or global_id; default: idiom");
    train_->add_option("-o,--output", output_, "pilot to write (JSON)")->required();

    evaluate_ = command_->add_subcommand("evaluate", "count the mispredictions of a pilot");
    given_.watch(*evaluate_);
    evaluate_->add_option("pilot", pilot_, "pilot (JSON)")->required();
    evaluate_->add_option("networks", networks_, "descriptions of networks, or lists of them (YAML)")->required();
    evaluate_->add_option("--gpu", gpu_, "file of configs/gpus whose kernel times are used; a list names its own");
    evaluate_->add_option("--set", settings_, "KEY=VALUE: overrides a key of the descriptions");
    evaluate_->add_option("--samples", samples_, "default: 3000")->check(whole_number(1, 10000000));
    evaluate_->add_option("--seed", seed_, "of the samples; default: 1")->check(whole_number(0));
    evaluate_->add_option("--json", json_, "file for the result");

    inspect_ = command_->add_subcommand("inspect", "print what is in a pilot");
    inspect_->add_option("pilot", pilot_, "pilot (JSON)")->required();
    inspect_->add_flag("--time", time_, "measure an inference on this machine");
}

bool PilotCommand::parsed() const {
    return command_->parsed();
}

int PilotCommand::run() {
    if (trace_->parsed()) return trace();
    if (train_->parsed()) return train();
    if (evaluate_->parsed()) return evaluate();
    return inspect();
}

int PilotCommand::trace() {
    const sched::TrainingNetwork network = read_network(network_, gpu_, parse_overrides(settings_));
    BlockPlanner planner(network, label_partition(network));
    const PilotTrace made =
        record_trace(network, planner, parse_representation(representation_, "", "--representation"), seed_, samples_);
    make_folder_of(output_);
    write_trace(made, output_);
    fmt::print("{}: {} samples of {} on {} paths, {} rows of the program\n", output_, made.samples.size(), made.network,
               network.paths(), made.matrix.size());
    return 0;
}

int PilotCommand::train() {
    config_.representation = parse_representation(representation_, "", "--representation");
    std::vector<PilotTrace> traces;
    for (const std::string& input : inputs_) {
        if (open_input(input).peek() == '{') {
            traces.push_back(read_trace(input));
            if (traces.back().representation != config_.representation)
                throw InputError(
                    input, 1, "representation",
                    fmt::format("expected {}, found {}", representation_, to_string(traces.back().representation)));
            continue;
        }
        for (PilotTrace& trace : recorded(input, config_.representation)) traces.push_back(std::move(trace));
    }
    Pilot pilot(config_);
    const std::vector<double> losses = pilot.train(traces);
    pilot.write(output_);
    std::size_t samples = 0;
    for (const PilotTrace& trace : traces) samples += trace.samples.size();
    fmt::print("{}: {} samples of {} networks, {} epochs, loss {:.4g} to {:.4g}, {} parameters\n", output_, samples,
               traces.size(), losses.size(), losses.front(), losses.back(), pilot.parameters());
    return 0;
}

int PilotCommand::evaluate() {
    const auto lists = [](const std::string& file) { return lists_networks(file, "pilot_validation"); };
    const bool described = !std::all_of(networks_.begin(), networks_.end(), lists);
    constexpr const char* kDescribed = "goes with a description of a network; a list names its own";
    given_.refuse_unused({{"gpu", described, kDescribed},
                          {"set", described, kDescribed},
                          {"samples", described, kDescribed},
                          {"seed", described, kDescribed}});
    const Pilot pilot = Pilot::read(pilot_);
    nlohmann::ordered_json report = nlohmann::ordered_json::array();
    double sum = 0;
    const auto add = [&](const sched::TrainingNetwork& network, std::uint64_t seed, std::uint64_t samples,
                         const std::string& changes) {
        const PilotEvaluation e = evaluate_pilot(network, pilot, seed, samples);
        if (report.empty())  // nothing is printed before a pilot that is refused
            fmt::print("{:<12} {:>6} {:>7} {:>8} {:>7} {:>10} {:>11} {:>12} {:>12} {:>11} {:>11}\n", "network", "paths",
                       "samples", "accuracy", "exact", "other path", "other label", "mispredicted", "with records",
                       "label limit", "input limit");
        const double accuracy = 1 - static_cast<double>(e.mispredictions) / static_cast<double>(e.samples);
        sum += accuracy;
        fmt::print("{:<12} {:>6} {:>7} {:>8.4f} {:>7} {:>10} {:>11} {:>12} {:>12} {:>11} {:>11} {}\n", network.name,
                   network.paths(), e.samples, accuracy, e.exact, e.other_path, e.other_label, e.mispredictions,
                   e.handled, e.label_limit, e.input_limit, changes);
        report.push_back({{"network", network.name},
                          {"changes", changes},
                          {"paths", network.paths()},
                          {"samples", e.samples},
                          {"accuracy", accuracy},
                          {"exact", e.exact},
                          {"other_path", e.other_path},
                          {"other_label", e.other_label},
                          {"right_size_other_path", e.right_size},
                          {"mispredictions", e.mispredictions},
                          {"mispredictions_with_records", e.handled},
                          {"mispredictions_of_true_labels", e.label_limit},
                          {"mispredictions_of_likeliest_path", e.input_limit},
                          {"compared", e.compared},
                          {"output_difference", e.output_difference},
                          {"label_separation", e.label_separation},
                          {"resolved", e.resolved}});
    };
    for (const std::string& file : networks_) {
        if (lists(file)) {
            for_listed(file, "pilot_validation",
                       [&](const Listed& listed) { add(listed.network, listed.seed, listed.samples, listed.changes); });
            continue;
        }
        if (gpu_.empty()) throw InputError("--gpu", 0, "", "expected a GPU for " + file + ", found none");
        add(read_network(file, gpu_, parse_overrides(settings_)), seed_, samples_, "");
    }
    if (!report.empty()) fmt::print("mean accuracy {:.4f}\n", sum / static_cast<double>(report.size()));
    if (!json_.empty()) write_json(report, json_);
    return 0;
}

int PilotCommand::inspect() {
    const Pilot pilot = Pilot::read(pilot_);
    const PilotConfig& c = pilot.config();
    fmt::print("{}: {}, {} neurons, trained on {}\n", pilot_, to_string(c.representation), c.neurons,
               fmt::join(pilot.trained_on, ", "));
    fmt::print("input layers: sample {} to {}, matrix {} to {}, type 3 to {}\n", sched::kFeatures, c.sample_layer,
               kProgramRows * row_elements(c.representation), c.matrix_layer, c.type_layer);
    fmt::print("3 multilayer perceptrons of {}, {}, {} and {} neurons\n",
               c.sample_layer + c.matrix_layer + c.type_layer, c.neurons, c.second_layer,
               kOutputBlocks * vector_elements(c.representation));
    fmt::print("{} parameters, {} of them active, {:.1f} KB\n", pilot.parameters(), pilot.active_parameters(),
               static_cast<double>(4 * pilot.active_parameters()) / 1000);
    if (!time_) return 0;
    std::vector<std::vector<double>> matrix(kProgramRows, std::vector<double>(row_elements(c.representation), 1));
    const Pilot::Architecture architecture = pilot.encode(matrix, sched::BasicType::recurrent);
    const std::vector<float> features(sched::kFeatures, 0.5F);
    constexpr int kTimes = 2000;
    double sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) sum += pilot.infer(features, architecture).front().front();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    fmt::print("an inference takes {:.1f} us on this machine (mean of {}, first output {:.0f})\n",
               taken.count() / kTimes, kTimes, sum / kTimes);
    return 0;
}

}  // namespace switchyard::platform
