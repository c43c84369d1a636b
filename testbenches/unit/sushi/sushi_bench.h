// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"
#include "switchyard/platform/systems/sushi/sushi_chip.h"
#include "switchyard/sw_scheduler/base/files.h"
#include "switchyard/sw_scheduler/base/json_text.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform {
std::unique_ptr<System> make_sushi_system();
}

/// What the tests of the system sushi share.
namespace switchyard::test {

inline const std::string kConfigs = std::string(SOURCE_FOLDER) + "/configs/";
/// Of the closed form over the simulated chip, share of a layer's time.
inline constexpr double kLayerBound = 0.05;
inline const std::string kDigits = kConfigs + "workloads/sushi/digits_supernet.yaml";

inline platform::Point sushi_point(const std::string& design, const std::string& workload, const std::string& board,
                                   std::map<std::string, std::string> overrides = {}) {
    platform::Point point;
    point.design = design;
    point.workload = workload.front() == '/' ? workload : fmt::format("{}workloads/sushi/{}.yaml", kConfigs, workload);
    point.platform = fmt::format("{}platforms/{}.yaml", kConfigs, board);
    point.overrides = std::move(overrides);
    return point;
}

/// Runs in a child; the report comes back through a file.
inline nlohmann::ordered_json sushi_report(const platform::Point& point) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "switchyard_sushi_system.json";
    testing::in_child([&] {
        const auto system = platform::make_sushi_system();
        std::ofstream(file) << system->prepare(point)->run().dump();
    });
    nlohmann::ordered_json report = parse_ordered_json(read_file(file, kMaxJsonBytes), file);
    std::filesystem::remove(file);
    return report;
}

/// Sends commands to a chip as a driver does, several at a time if told to.
class ChipDriver : public sc_core::sc_module {
public:
    using Command = std::pair<std::uint32_t, std::size_t>;
    tlm_utils::simple_initiator_socket<ChipDriver> socket{"socket"};
    sc_core::sc_in<bool> irq{"irq"};

    /// `script` is called in the simulation and uses command() and wait_idle().
    ChipDriver(const sc_core::sc_module_name& name, std::function<void(ChipDriver&)> script)
        : sc_module(name), script_(std::move(script)) {
        SWITCHYARD_HAS_PROCESS(ChipDriver);
        SC_THREAD(run);
    }
    void command(std::uint32_t operation, std::size_t argument) {
        access(true, hw::CommandPort::kOperation, operation);
        access(true, hw::CommandPort::kArgument, static_cast<std::uint32_t>(argument));
        access(true, hw::CommandPort::kDoorbell, 1);
    }
    std::uint32_t wait_idle() {
        std::uint32_t status = 0;
        while (((status = access(false, hw::CommandPort::kStatus)) & hw::CommandPort::kBusy) != 0)
            wait(sc_core::sc_time(100, sc_core::SC_NS));
        return status;
    }

private:
    std::uint32_t access(bool writes, std::uint64_t address, std::uint32_t value = 0) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(writes ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        return value;
    }
    void run() {
        wait(sc_core::SC_ZERO_TIME);
        script_(*this);
        sc_core::sc_stop();
    }
    std::function<void(ChipDriver&)> script_;
};

}  // namespace switchyard::test
