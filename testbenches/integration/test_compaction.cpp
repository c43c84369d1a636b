// Batch compaction: samples that are sorted by their routes do the same work, in less time.

#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

json run(const std::string& network, const std::string& options) {
    const std::string image = scratch("compaction.syk"), folder = scratch("compaction"),
                      platform = " --platform configs/platforms/adyna.yaml";
    const Outcome compiled = sy_sched("compile configs/workloads/" + network + ".yaml" + platform + " --design adyna" +
                                      options + " -o " + image);
    INFO(compiled.err);
    REQUIRE(compiled.status == 0);
    const bool sorts = sy_sched("inspect " + image).out.find("samples sorted by") != std::string::npos;
    const Outcome outcome = sy_sim("run" + platform + " --image " + image + " --batches 4 --report " + folder);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    json report = json::parse(read_text(folder + "/report.json"));
    CHECK(report.at("ok") == true);
    report["sorts"] = sorts;
    return report;
}

double latency(const json& report) {
    return report.at("summary").at("latency_us").at("mean").get<double>();
}

}  // namespace

TEST_CASE("a batch that is sorted by its routes takes less time for the same work", "[compaction]") {
    // Blocks that are skipped, patches that are dropped, samples that leave early.
    const std::string network = GENERATE("skipnet_resnet34", "dpsnet", "pabee_bert");
    CAPTURE(network);
    const json sorted = run(network, ""), by_id = run(network, " --without compaction");
    CHECK(sorted.at("sorts") == true);
    CHECK(by_id.at("sorts") == false);
    CHECK(latency(sorted) < latency(by_id));
    for (std::size_t batch = 0; batch < 4; ++batch)
        CHECK(sorted.at("batches").at(batch).at("macs") == by_id.at("batches").at(batch).at("macs"));
}
