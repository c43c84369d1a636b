// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/import_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/npy.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/output_marker.h"
#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"

namespace switchyard::platform {

namespace {

/// The graph of a model file's text: what the model format demands is checked.
sched::DynGraph checked(const std::string& network, const std::string& text) {
    const ScratchFolder folder("sy-sched");
    const std::string file = folder.file("model.yaml");
    write_file(text, file);
    try {
        return sched::read_model(file).graph;
    } catch (const InputError& error) {
        const std::string message = error.what();
        const bool ours = message.rfind(file + ":", 0) == 0;
        throw InputError(network, 0, "model file", ours ? "line " + message.substr(file.size() + 1) : message);
    }
}

}  // namespace

void ImportCommand::add_to(CLI::App& app) {
    command_ = app.add_subcommand("import", "make a model file of a network in ONNX");
    command_->add_option("network", network_, "network (ONNX)")->required();
    command_->add_option("-o,--output", output_, "model file to write (YAML)")->required();
    command_->add_option("--weights", weights_, "folder to write the values to (.npy), for functional runs");
    command_->add_option("--batch", options_.batch, "model inputs a batch; default: the network's, or 1")
        ->check(whole_number(1, sched::kLargestBatch));
    command_->add_option("--name", options_.name, "name of the model; default: that of the graph");
    command_->add_option("--json", json_, "file for the sizes of the network");
}

bool ImportCommand::parsed() const {
    return command_->parsed();
}

int ImportCommand::run() const {
    sched::OnnxImportOptions options = options_;
    options.values = !weights_.empty();
    const sched::ImportedModel model = sched::import_onnx(network_, options);
    const std::string text = fmt::format("{}\n{}", kWrittenComment, model.text);
    const sched::DynGraph graph = checked(network_, text);
    FileContents files;
    for (const sched::ImportedWeights& one : model.weights)
        files.emplace_back(weights_ + "/" + one.name + ".npy", npy_bytes({one.shape, one.values}));
    files.emplace_back(output_, text);
    write_files(files);
    if (!json_.empty())
        write_json({{"format", "switchyard-import"},
                    {"version", 1},
                    {"name", graph.name},
                    {"layers", model.layers},
                    {"operators", graph.operators.size()},
                    {"switches", graph.switches.size()},
                    {"macs_per_sample", graph.total_macs_per_sample()},
                    {"weight_bytes", graph.total_weight_bytes()},
                    {"parameters", model.parameters},
                    {"host_parameters", model.host_parameters},
                    {"sizes_only", model.sizes_only}},
                   json_);
    fmt::print("{}: {} layers, {} operators, {} switches; {:.3f} MMACs a sample, {} parameters", output_, model.layers,
               graph.operators.size(), graph.switches.size(), static_cast<double>(graph.total_macs_per_sample()) * 1e-6,
               model.parameters);
    if (model.host_parameters > 0) fmt::print(", {} of them in tables of the host", model.host_parameters);
    fmt::print("\n");
    if (!model.sizes_only.empty())
        fmt::print("for timing only: no values of {} operators, such as {}\n", model.sizes_only.size(),
                   model.sizes_only.front());
    return 0;
}

}  // namespace switchyard::platform
