// SPDX-License-Identifier: Apache-2.0
// network_interface.memory_reads: what several tiles need of HBM in one multicast packet, or each for itself.

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

std::string reads(const std::string& how) {
    return " --set network_interface.memory_reads=" + how;
}

std::string planned(const std::string& model, const std::string& platform, const std::string& how) {
    return compiled(model + " --platform " + platform + reads(how) + " --design m-tile", "reads_" + how + ".syk");
}

json run_reading(const std::string& image, const std::string& platform, const std::string& how,
                 const std::string& options) {
    return report_of_run("--platform " + platform + " --image " + image + reads(how) + options);
}

double read_bytes(const json& report) {
    return report.at("utilisation").at("hbm_read_bytes").get<double>();
}
double delivered_bytes(const json& report) {
    return report.at("counters").at("network_interface.memory_requested_bytes").get<double>();
}

}  // namespace

TEST_CASE("without multicast HBM is read once for each tile that gets the bytes", "[memory_reads]") {
    const std::string chip = GENERATE("tiles", "stages");
    CAPTURE(chip);
    const std::string image = planned(kDigits, kMini, "multicast");
    const std::string options = std::string(" --trace ") + kDigitsTrace + " --batches 2 --set chip.impl=" + chip;
    const json together = run_reading(image, kMini, "multicast", options),
               apart = run_reading(image, kMini, "unicast", options);
    constexpr double kBursts = 0.001;  // memory reads whole ones
    CHECK(read_bytes(together) < delivered_bytes(together));
    CHECK(read_bytes(apart) >= delivered_bytes(apart));
    CHECK(read_bytes(apart) < (1 + kBursts) * delivered_bytes(apart));
    // The same bytes arrive, whoever asks for them.
    CHECK(delivered_bytes(apart) == delivered_bytes(together));
    CHECK(apart.at("counters").at("pe_array.macs") == together.at("counters").at("pe_array.macs"));
    CHECK(apart.at("counters").at("network_interface.acknowledges") <
          together.at("counters").at("network_interface.acknowledges"));
}

namespace {

void check_fewer_readers(const std::string& model) {
    CAPTURE(model);
    const std::string platform = "configs/platforms/adyna.yaml", options = " --batches 2 --set chip.impl=stages";
    const std::string together = planned(model, platform, "multicast"), apart = planned(model, platform, "unicast");
    const json foreign = run_reading(together, platform, "unicast", options),
               own = run_reading(apart, platform, "unicast", options);
    const json best = run_reading(together, platform, "multicast", options);
    CHECK(read_bytes(own) < 0.7 * read_bytes(foreign));
    CHECK(mean_latency_us(own) < 0.9 * mean_latency_us(foreign));
    CHECK(mean_latency_us(best) < mean_latency_us(own));
}

}  // namespace

TEST_CASE("the scheduler chooses partitions with fewer readers where each reads for itself", "[memory_reads]") {
    check_fewer_readers("configs/workloads/pabee_bert.yaml");
}

TEST_CASE("the scheduler chooses partitions of experts with fewer readers where each reads for itself",
          "[.ci-long][memory_reads]") {
    check_fewer_readers("configs/workloads/tutel_moe.yaml");
}
