// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/apps/memory_command.h"

#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "switchyard/platform/apps/command_line.h"
#include "switchyard/platform/apps/number_options.h"
#include "switchyard/platform/system/report_parts.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

void MemoryCommand::add_to(CLI::App& app) {
    given_.watch(app);
    app.add_flag("--keys", keys_, "print the keys of a device file and do nothing else");
    app.add_option("--device", device_,
                   "hbm2, ddr4, lpddr4, another device of configs/devices by its name, or the path of a file");
    app.add_option("--pattern", traffic_.pattern, "addresses of successive requests")
        ->check(CLI::IsMember(memory_patterns()));
    app.add_option("--read-share", traffic_.read_share, "share of the requests that read")->check(number(0, 1));
    app.add_option("--request-bytes", traffic_.request_bytes, "bytes of a request")
        ->check(whole_number(1, std::uint64_t{1} << 24));
    app.add_option("--requests", traffic_.requests, "number of requests")
        ->check(whole_number(1, std::uint64_t{1} << 32));
    app.add_option("--impl", options_.impl, "model")->check(CLI::IsMember({"bank", "bandwidth"}));
    app.add_option("--seed", traffic_.seed, "of random addresses and of reads and writes")->check(whole_number(0));
    app.add_option("--stride-bytes", traffic_.stride_bytes, "pattern strided: bytes from request to request")
        ->check(whole_number(1));
    app.add_option("--streams", traffic_.streams, "pattern streams: number of sequential streams")
        ->check(whole_number(1));
    app.add_option("--trace", traffic_.trace, "pattern trace: a file that hbm.request_log has written");
    app.add_flag("--timed", traffic_.timed, "pattern trace: requests come at the times of the file");
    app.add_option("--load", traffic_.load_gb_per_s,
                   "offered GB/s, requests at even distances; default: as many as the memory takes")
        ->check(positive_number());
    app.add_option("--outstanding", traffic_.outstanding,
                   "requests in flight without --load; default: eight rows a channel")
        ->check(whole_number(1));
    app.add_option("--mapping", mapping_, "address mapping; default: the device's");
    app.add_option("--page", page_, "page policy; default: the device's")->check(CLI::IsMember({"open", "closed"}));
    app.add_option("--set", settings_, "override a key of the device file")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    app.add_flag("--check", options_.check_timing, "check every command against the device's timing");
    app.add_option("--commands", options_.commands, "file for the commands (CSV)");
    app.add_option("--json", json_, "file for the result");
}

void MemoryCommand::resolve() {
    if ((traffic_.pattern == "trace") == traffic_.trace.empty())
        throw InputError("--trace", 0, "", "expected together with --pattern trace, found one without the other");
    if (traffic_.timed && (traffic_.trace.empty() || traffic_.load_gb_per_s > 0))
        throw InputError("--timed", 0, "", "expected with --trace and without --load, found otherwise");
    std::map<std::string, std::string> overrides = parse_overrides(settings_);
    if (!mapping_.empty()) overrides["controller.mapping"] = mapping_;
    if (!page_.empty()) overrides["controller.page"] = page_;
    memory_ = hw::dram::read_device(device_, overrides);
}

std::vector<UnusedParameter> MemoryCommand::unused() const {
    const std::string& pattern = traffic_.pattern;
    const bool trace = pattern == "trace", banks = options_.impl == "bank";
    const bool chosen = !trace && pattern != "alternating" && pattern != "copy";
    const bool mixed = chosen && traffic_.read_share > 0 && traffic_.read_share < 1;
    const bool load = traffic_.load_gb_per_s > 0;
    constexpr const char* kBanks = "goes with --impl bank";
    return given_.unused(
        {{"stride-bytes", pattern == "strided", "goes with --pattern strided"},
         {"streams", pattern == "streams", "goes with --pattern streams"},
         {"read-share", chosen, "goes with all patterns but alternating, copy and trace, which have theirs"},
         {"request-bytes", !trace, "goes with all patterns but trace, whose file says it"},
         {"requests", !trace, "goes with all patterns but trace, whose file says it"},
         {"seed", pattern == "random" || mixed, "goes with --pattern random or a --read-share between 0 and 1"},
         {"outstanding", !load && !traffic_.timed, "goes without --load and --timed"},
         {"check", banks, kBanks},
         {"commands", banks, kBanks}});
}

nlohmann::ordered_json MemoryCommand::report() {
    figures_ = run_memory(memory_, traffic_, options_);
    return memory_json(memory_, traffic_, options_, figures_);
}

int MemoryCommand::run() {
    if (keys_) {
        if (given_.any_but({"keys", "quiet"}))
            throw InputError("--keys", 0, "", "expected no other option, found some; leave them out to print the keys");
        fmt::print("{}", hw::dram::device_keys_markdown());
        return 0;
    }
    resolve();
    refuse(unused());
    const nlohmann::ordered_json result = report();
    if (!json_.empty()) write_json(result, json_);
    fmt::print("{}", memory_text(memory_, traffic_, options_, figures_));
    return 0;
}

}  // namespace switchyard::platform
