// SPDX-License-Identifier: Apache-2.0
// Batch compaction: samples that are sorted by their routes do the same work, in less time.

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run_network(const std::string& network, const std::string& options) {
    const std::string platform = " --platform configs/platforms/adyna.yaml";
    const std::string image =
        compiled("configs/workloads/" + network + ".yaml" + platform + " --design adyna" + options);
    json report = report_of_run(platform + " --image " + image + " --batches 4 --set chip.impl=stages");
    report["sorts"] = sy_sched("inspect " + image).out.find("samples sorted by") != std::string::npos;
    return report;
}

void check_that_sorting_saves_time(const std::string& network) {
    CAPTURE(network);
    const json sorted = run_network(network, ""), by_id = run_network(network, " --without compaction");
    CHECK(sorted.at("sorts") == true);
    CHECK(by_id.at("sorts") == false);
    CHECK(mean_latency_us(sorted) < mean_latency_us(by_id));
    for (std::size_t batch = 0; batch < 4; ++batch)
        CHECK(sorted.at("batches").at(batch).at("macs") == by_id.at("batches").at(batch).at("macs"));
}

}  // namespace

TEST_CASE("a batch that is sorted by its routes takes less time for the same work", "[compaction]") {
    check_that_sorting_saves_time("dpsnet");  // patches that are dropped
}

TEST_CASE("sorted batches take less time where blocks are skipped or samples leave early", "[.ci-long][compaction]") {
    check_that_sorting_saves_time(GENERATE("skipnet_resnet34", "pabee_bert"));
}
