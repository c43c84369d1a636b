// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/batch_report.h"
#include "switchyard/platform/systems/m_tenant/m_tenant.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform;
using nlohmann::ordered_json;

namespace {

PlatformConfig adyna(std::map<std::string, std::string> overrides = {}) {
    return read_platform("configs/platforms/adyna.yaml", std::move(overrides));
}

void check_sensitivity(const std::string& network) {
    const sched::Model model = sched::read_model("configs/workloads/" + network + ".yaml");
    const std::vector<BatchRouting> routing = sched::declared_routing(model, 2);
    const auto latency = [&](std::map<std::string, std::string> overrides) {
        return run_m_tenant(model.graph, routing, {"generator", 1}, adyna(std::move(overrides)), {})
            .at("summary")
            .at("latency_us")
            .at("mean")
            .get<double>();
    };
    const double usual = latency({});
    CHECK(latency({{"hbm.pseudo_channel_gb_per_s", "9.6"}}) > 1.2 * usual);
    CHECK(latency({{"noc.link_bytes_per_cycle", "8"}}) > 1.2 * usual);
    CHECK(latency({{"scratchpad.capacity_bytes", "131072"}}) > usual);
    CHECK(latency({{"chip.clock_ghz", "2"}}) < usual);
}

}  // namespace

TEST_CASE("the report of tenants says what was run, and the same again", "[m-tenant]") {
    const sched::Model model = sched::read_model("configs/workloads/skipnet_resnet34.yaml");
    const std::vector<BatchRouting> routing = sched::declared_routing(model, 3);
    const ordered_json report = run_m_tenant(model.graph, routing, {"generator", 1}, adyna(), {});
    CHECK(report.at("ok") == true);
    CHECK(report.at("design") == "m-tenant");
    CHECK(report.at("platform").at("name") == "adyna");
    CHECK(report.at("batches").size() == 3);
    CHECK(report.at("events_per_batch").at("synchronisations") == 15 + 15);
    for (const ordered_json& check : report.at("conservation")) CHECK(check.at("ok") == true);

    double macs = 0, latency = 0;
    for (const ordered_json& batch : report.at("batches")) {
        macs += batch.at("macs").get<double>();
        latency += batch.at("latency_us").get<double>();
        CHECK(batch.at("pe_utilisation") < 1);
    }
    const double run_us = report.at("summary").at("run_us");
    CHECK(run_us == Approx(latency));  // 1.2 ms of input are moved while a batch runs
    CHECK(report.at("utilisation").at("pe").get<double>() == Approx(macs / (147456e3 * run_us)));
    const auto& time = report.at("time_us_per_batch");
    CHECK(time.at("tiles_at_work").get<double>() + time.at("tiles_idle").get<double>() == Approx(latency / 3));

    const ordered_json& energy = report.at("energy");
    double parts = 0;
    for (const auto& [name, part] : energy.at("parts_mj").items()) parts += part.get<double>();
    CHECK(parts == Approx(energy.at("total_mj").get<double>()));
    const double bytes = report.at("utilisation").at("hbm_read_bytes").get<double>() +
                         report.at("utilisation").at("hbm_write_bytes").get<double>();
    CHECK(energy.at("parts_mj").at("hbm").get<double>() == Approx(bytes * 8 * 3.9e-9));
    CHECK(energy.at("parts_mj").at("dispatcher_controller").get<double>() == Approx(144 * 10.409e-6 * run_us));
    CHECK(energy.at("parts_mj").at("pe").get<double>() >= macs * 1.129e-9);

    CHECK(run_m_tenant(model.graph, routing, {"generator", 1}, adyna(), {}).dump() == report.dump());
}

TEST_CASE("each tile reading for itself costs tenants most where tensors are large", "[m-tenant]") {
    const auto latency_us = [](const char* network, const char* reads) {
        const sched::Model model = sched::read_model(network);
        const ordered_json report = run_m_tenant(model.graph, sched::declared_routing(model, 1), {"generator", 1},
                                                 adyna({{"network_interface.memory_reads", reads}}), {});
        for (const ordered_json& check : report.at("conservation")) CHECK(check.at("ok") == true);
        return report.at("summary").at("latency_us").at("mean").get<double>();
    };
    const auto slower = [&](const char* network) {
        return latency_us(network, "unicast") / latency_us(network, "multicast");
    };
    const double bert = slower("configs/workloads/pabee_bert.yaml");
    const double moe = slower("configs/workloads/tutel_moe.yaml");
    CHECK(moe >= 1);
    CHECK(bert > 1.3 * moe);
}

TEST_CASE("batches wait for their input", "[m-tenant]") {
    // 10 us of input, 1 us of output on the host's link; batches of 4, 20, 4 us.
    const BatchClock clock(10, 1, {4, 20, 4});
    CHECK(clock.start_us(0) == 0);
    CHECK(clock.start_us(1) == 10);       // its input came during batch 0, and later
    CHECK(clock.start_us(2) == 10 + 20);  // its input came during batch 1
    CHECK(clock.run_us() == 10 + 20 + 4);
    const sched::Model model = sched::read_model("configs/workloads/skipnet_resnet34.yaml");
    const std::vector<BatchRouting> routing = sched::declared_routing(model, 3);
    const ordered_json slow =
        run_m_tenant(model.graph, routing, {"generator", 1}, adyna({{"host.link_bytes_per_cycle", "1"}}), {});
    const double input_us = 128 * 3 * 224 * 224 * 2 / 1e3, output_us = 128 * 1000 * 2 / 1e3;
    CHECK(slow.at("summary").at("run_us").get<double>() ==
          Approx(2 * input_us + output_us + slow.at("batches")[2].at("latency_us").get<double>()));
}

TEST_CASE("links, memory and scratchpads matter to tenants", "[m-tenant]") {
    check_sensitivity("skipnet_resnet34");
}

TEST_CASE("links, memory and scratchpads matter to tenants, ResNet-101", "[.ci-long][m-tenant]") {
    check_sensitivity("skipnet_resnet101");
}
