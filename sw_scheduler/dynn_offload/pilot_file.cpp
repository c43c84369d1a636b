// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/sw_scheduler/dynn_offload/pilot_layers.h"

namespace switchyard::dynn_offload {

using nlohmann::json;

namespace {

constexpr const char* kPilotFormat = "switchyard-pilot";
constexpr int kPilotVersion = 2;

template <class M>
json numbers(const M& values) {
    return std::vector<float>(values.data(), values.data() + values.size());
}

void read_numbers(const json& value, Eigen::Index count, float* to, const std::string& path, const std::string& key) {
    const auto values = value.get<std::vector<float>>();
    if (values.size() != static_cast<std::size_t>(count))
        throw InputError(path, 0, key, fmt::format("{} numbers instead of {}", values.size(), count));
    std::copy(values.begin(), values.end(), to);
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
    const json file = parse_json(read_file(path, kMaxJsonBytes), path);
    if (!file.is_object() || file.value("format", "") != kPilotFormat) throw InputError(path, 0, "format", "no pilot");
    if (file.value("version", 0) != kPilotVersion)
        throw InputError(path, 0, "version",
                         fmt::format("version {} of the format; this program reads version {}",
                                     file.value("version", 0), kPilotVersion));
    try {
        PilotConfig config;
        config.representation =
            parse_representation(file.at("representation").get<std::string>(), path, "representation");
        const auto size = [&](const char* key) {
            const auto value = file.at(key).get<std::int64_t>();
            if (value < 1 || value > 1 << 20) throw InputError(path, 0, key, fmt::format("{} is out of range", value));
            return static_cast<unsigned>(value);
        };
        config.neurons = size("neurons");
        config.second_layer = size("second_layer");
        config.sample_layer = size("sample_layer");
        config.matrix_layer = size("matrix_layer");
        config.type_layer = size("type_layer");
        config.slope = file.at("slope").get<double>();
        config.learning_rate = file.at("learning_rate").get<double>();
        config.momentum = file.at("momentum").get<double>();
        config.batch = size("batch");
        config.epochs = size("epochs");
        config.seed = file.at("seed").get<std::uint64_t>();
        Pilot pilot(config);
        pilot.source_file = path;
        pilot.trained_on = file.at("trained_on").get<std::vector<std::string>>();
        const json &scalings = file.at("scalings"), &layers = file.at("layers");
        Layers::for_scalings(*pilot.layers_, [&](const std::string& name, PilotScaling& scaling) {
            const json& of = scalings.at(name);
            read_numbers(of.at("shift"), scaling.shift.size(), scaling.shift.data(), path, name + ".shift");
            read_numbers(of.at("scale"), scaling.scale.size(), scaling.scale.data(), path, name + ".scale");
        });
        Layers::for_layers(*pilot.layers_, [&](const std::string& name, PilotLayer& layer) {
            const json& of = layers.at(name);
            read_numbers(of.at("weights"), layer.weights.size(), layer.weights.data(), path, name + ".weights");
            read_numbers(of.at("bias"), layer.bias.size(), layer.bias.data(), path, name + ".bias");
        });
        return pilot;
    } catch (const json::exception& error) {
        throw InputError(path, 0, "", error.what());
    }
}

}  // namespace switchyard::dynn_offload
