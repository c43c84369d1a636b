// SPDX-License-Identifier: Apache-2.0
// Usage: run_with_rules IMPL MODEL PLATFORM. Runs three batches of a network on tiles or stages and prints the latency
// of each, with rules that a shared library has.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>
#include <systemc>

#include "switchyard/platform/system/point_setting.h"
#include "switchyard/platform/system/system.h"

namespace switchyard::platform {
std::unique_ptr<System> make_adyna_system();
}  // namespace switchyard::platform

int sc_main(int argc, char** argv) {
    using namespace switchyard::platform;
    if (argc < 4) return 2;
    Point point;
    point.design = "adyna";
    point.workload = argv[2];
    point.platform = argv[3];
    point.overrides["chip.impl"] = argv[1];
    point.work.batches = 3;
    try {
        for (int i = 4; i < argc; ++i) {
            const std::string setting = argv[i];
            const std::size_t equals = setting.find('=');
            apply_setting({"setting", 0}, setting.substr(0, equals), setting.substr(equals + 1), point);
        }
        const auto system = make_adyna_system();
        const nlohmann::ordered_json report = system->prepare(point)->run();
        for (const auto& batch : report.at("batches")) std::printf("%.4f\n", batch.at("latency_us").get<double>());
    } catch (const std::exception& error) {
        std::printf("%.300s\n", error.what());
        return 1;
    }
    return 0;
}
