// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/gemm_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/exit_status.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/adyna/chip_choice.h"
#include "switchyard/platform/systems/adyna/report.h"

namespace switchyard::platform {

void GemmCommand::add_to(CLI::App& app) {
    const CLI::Validator size_check = whole_number(1, 0xFFFFFFFF);
    platform.add_to(app);
    app.add_option("--m", size.m, "rows of A and C")->required()->check(size_check);
    app.add_option("--n", size.n, "columns of B and C")->required()->check(size_check);
    app.add_option("--k", size.k, "columns of A, rows of B")->required()->check(size_check);
    app.add_option("--tiles", size.tiles, "use the first N tiles; default: all")->check(size_check);
    app.add_option("--json", json, "file for the result");
}

int GemmCommand::run() const {
    const nlohmann::ordered_json result = run_on_chosen_chip(platform.read(), [this](const PlatformConfig& chosen) {
                                              return nlohmann::ordered_json{{kReport, run_gemm(chosen, size)}};
                                          }).at(kReport);
    if (!json.empty()) write_json(result, json);
    fmt::print("gemm {}x{}x{} on {} tiles of {}: {} cycles, PE utilisation {:.2f} %, HBM bandwidth {:.2f} %\n", size.m,
               size.n, size.k, result.at("tiles").get<unsigned>(), result.at("platform").get<std::string>(),
               result.at("cycles").get<std::uint64_t>(), 100 * result.at("utilisation").get<double>(),
               100 * result.at("hbm_bandwidth").get<double>());
    fmt::print("{}", validation_rows(result.at("validation")));
    if (result.at("ok").get<bool>()) return 0;
    fmt::print("{}", check_rows(result.at("conservation")));
    return kFailedCheck;
}

}  // namespace switchyard::platform
