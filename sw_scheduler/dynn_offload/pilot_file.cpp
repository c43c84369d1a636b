// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_reader.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot_layers.h"

namespace switchyard::dynn_offload {

using nlohmann::json;

namespace {

constexpr const char* kPilotFormat = "switchyard-pilot";
constexpr int kPilotVersion = 2;
constexpr std::uint64_t kLargestLayer = std::uint64_t{1} << 20;

template <class M>
json numbers(const M& values) {
    return std::vector<float>(values.data(), values.data() + values.size());
}

void read_numbers(const JsonReader& list, Eigen::Index count, float* to) {
    const std::vector<double> values = list.numbers();
    if (values.size() != static_cast<std::size_t>(count))
        list.fail(fmt::format("expected {} numbers, found {}", count, values.size()));
    std::transform(values.begin(), values.end(), to, [](double value) { return static_cast<float>(value); });
}

/// Layers take memory as the file's numbers of neurons say: the file must have the weights.
void check_layer_sizes(const JsonReader& layers, const PilotConfig& config) {
    const auto check = [&layers](const std::string& name, std::uint64_t in, std::uint64_t out) {
        const JsonReader weights = layers.member(name).member("weights");
        if (weights.json().size() != in * out)
            weights.fail(
                fmt::format("expected {} numbers, {} x {}, found {}", in * out, out, in, weights.json().size()));
    };
    check("sample", sched::kFeatures, config.sample_layer);
    check("matrix", std::uint64_t{kProgramRows} * row_elements(config.representation), config.matrix_layer);
    check("type", kBasicTypes, config.type_layer);
    for (unsigned i = 0; i < kBasicTypes; ++i) {
        const std::string name = sched::to_string(static_cast<sched::BasicType>(i));
        check(name + ".first", std::uint64_t{config.sample_layer} + config.matrix_layer + config.type_layer,
              config.neurons);
        check(name + ".second", config.neurons, config.second_layer);
        check(name + ".output", config.second_layer,
              std::uint64_t{kOutputBlocks} * vector_elements(config.representation));
    }
}

}  // namespace

void Pilot::write(const std::string& path) const {
    nlohmann::ordered_json file{{"format", kPilotFormat},
                                {"version", kPilotVersion},
                                {"representation", to_string(config_.representation)},
                                {"neurons", config_.neurons},
                                {"second_layer", config_.second_layer},
                                {"sample_layer", config_.sample_layer},
                                {"matrix_layer", config_.matrix_layer},
                                {"type_layer", config_.type_layer},
                                {"slope", config_.slope},
                                {"learning_rate", config_.learning_rate},
                                {"momentum", config_.momentum},
                                {"batch", config_.batch},
                                {"epochs", config_.epochs},
                                {"seed", config_.seed},
                                {"trained_on", trained_on}};
    Layers::for_scalings(*layers_, [&](const std::string& name, const PilotScaling& scaling) {
        file["scalings"][name] = {{"shift", numbers(scaling.shift)}, {"scale", numbers(scaling.scale)}};
    });
    Layers::for_layers(*layers_, [&](const std::string& name, const PilotLayer& layer) {
        file["layers"][name] = {{"in", layer.weights.cols()},
                                {"out", layer.weights.rows()},
                                {"weights", numbers(layer.weights)},
                                {"bias", numbers(layer.bias)}};
    });
    make_folder_of(path);
    write_file(json_text(file) + "\n", path);
}

Pilot Pilot::read(const std::string& path) {
    const json document = parse_json(read_file(path, kMaxJsonBytes), path);
    const JsonReader file(document, path);
    file.check_format(kPilotFormat, kPilotVersion, "pilot");
    PilotConfig config;
    config.representation = parse_representation(file.member("representation").text(), path, "representation");
    const auto size = [&](const char* key) {
        return static_cast<unsigned>(file.member(key).integer(1, kLargestLayer));
    };
    config.neurons = size("neurons");
    config.second_layer = size("second_layer");
    config.sample_layer = size("sample_layer");
    config.matrix_layer = size("matrix_layer");
    config.type_layer = size("type_layer");
    config.slope = file.member("slope").number();
    config.learning_rate = file.member("learning_rate").number();
    config.momentum = file.member("momentum").number();
    config.batch = size("batch");
    config.epochs = size("epochs");
    config.seed = file.member("seed").integer(0, UINT64_MAX);
    const JsonReader scalings = file.member("scalings"), layers = file.member("layers");
    check_layer_sizes(layers, config);
    Pilot pilot(config);
    pilot.source_file = path;
    pilot.trained_on = file.member("trained_on").texts();
    Layers::for_scalings(*pilot.layers_, [&](const std::string& name, PilotScaling& scaling) {
        const JsonReader of = scalings.member(name);
        read_numbers(of.member("shift"), scaling.shift.size(), scaling.shift.data());
        read_numbers(of.member("scale"), scaling.scale.size(), scaling.scale.data());
    });
    Layers::for_layers(*pilot.layers_, [&](const std::string& name, PilotLayer& layer) {
        const JsonReader of = layers.member(name);
        read_numbers(of.member("weights"), layer.weights.size(), layer.weights.data());
        read_numbers(of.member("bias"), layer.bias.size(), layer.bias.data());
    });
    return pilot;
}

}  // namespace switchyard::dynn_offload
