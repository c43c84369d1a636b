// chip.impl: stages against chip.impl: tiles, which models every packet: the same work to the byte, and the time that
// it takes within the bounds that docs/models/stages.md promises.

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;
using nlohmann::json;

namespace {

struct Case {
    const char *model, *platform, *routes;
    unsigned batches;
    double latency_bound;
    double bytes_bound = 0;  ///< weights of the next batch that are on their way when the run ends
    const char* reads = "multicast";
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.model << " on " << c.platform << ", reads: " << c.reads;
}

/// Pipelines know nothing of buffers that fill up, so the tiles get a network in which they do not
/// (docs/models/stages.md).
const char* const kRoomyNetwork = " --set noc.buffer_flits=1024 --set noc.vcs=12";

constexpr double kPacketsBound = 0.02;  ///< who asks and who acknowledges depends on which samples a unit has

std::string set_reads(const Case& c) {
    return std::string(" --set network_interface.memory_reads=") + c.reads;
}

json run(const Case& c, const std::string& image, const std::string& chip) {
    json report = report_of_run("--platform configs/platforms/" + std::string(c.platform) + ".yaml --image " + image +
                                " --batches " + std::to_string(c.batches) + " " + c.routes +
                                " --set chip.impl=" + chip + kRoomyNetwork + set_reads(c));
    CHECK(report.at("fidelity").at("chip") == chip);
    return report;
}

double difference(const json& value, const json& reference) {
    return std::abs(value.get<double>() / reference.get<double>() - 1);
}

}  // namespace

TEST_CASE("pipelines as a whole do what the tiles do", "[stages]") {
    const char* const digits = "--trace configs/workloads/digits/skipnet/routing.jsonl";
    const Case c = GENERATE_COPY(Case{"configs/workloads/digits_skipnet", "mini", digits, 4, 0.10},
                                 Case{"configs/workloads/digits_skipnet", "adyna", digits, 4, 0.10},
                                 Case{"testbenches/data/early_exit", "mini", "", 4, 0.10},
                                 Case{"testbenches/data/moe", "mini", "", 4, 0.10},
                                 Case{"configs/workloads/fbsnet_mcifarnet", "adyna", "", 2, 0.03},
                                 Case{"configs/workloads/tutel_moe", "adyna", "", 2, 0.10, 0.005},
                                 Case{"configs/workloads/dpsnet", "adyna", "", 2, 0.10, 0.005},
                                 Case{"configs/workloads/skipnet_resnet34", "adyna", "", 2, 0.03},
                                 Case{"configs/workloads/digits_skipnet", "mini", digits, 4, 0.10, 0, "unicast"},
                                 Case{"configs/workloads/tutel_moe", "adyna", "", 2, 0.25, 0.01, "unicast"},
                                 Case{"configs/workloads/skipnet_resnet34", "adyna", "", 2, 0.10, 0.001, "unicast"},
                                 Case{"configs/workloads/skipnet_resnet101", "adyna", "", 1, 0.03});
    CAPTURE(c);
    const std::string image = compiled(std::string(c.model) + ".yaml --platform configs/platforms/" + c.platform +
                                       ".yaml" + set_reads(c) + " --design adyna");
    const json tiles = run(c, image, "tiles"), stages = run(c, image, "stages");

    for (unsigned batch = 0; batch < c.batches; ++batch) {
        const json &exact = tiles.at("batches").at(batch), &fast = stages.at("batches").at(batch);
        CAPTURE(batch, exact.at("chip_cycles").get<double>(), fast.at("chip_cycles").get<double>());
        CHECK(difference(fast.at("chip_cycles"), exact.at("chip_cycles")) < c.latency_bound);
        CHECK(fast.at("macs") == exact.at("macs"));
    }
    for (const char* const bytes :
         {"hbm_read_bytes", "hbm_write_bytes", "scratchpad_read_bytes", "scratchpad_write_bytes"}) {
        CAPTURE(bytes);
        CHECK(difference(stages.at("utilisation").at(bytes), tiles.at("utilisation").at(bytes)) <= c.bytes_bound);
    }
    CHECK(difference(stages.at("utilisation").at("link_bytes"), tiles.at("utilisation").at("link_bytes")) <
          kPacketsBound + c.bytes_bound);
    for (const char* const counter :
         {"pe_array.macs", "pe_array.busy_cycles", "pe_array.vector_elements", "dispatcher.dispatches",
          "dispatcher.blocks_issued", "dispatcher.blocks_skipped", "controller.units", "controller.empty_units",
          "network_interface.sent_bytes", "network_interface.delivered_copy_bytes",
          "network_interface.memory_written_bytes", "network_interface.samples_sent"}) {
        CAPTURE(counter);
        CHECK(stages.at("counters").at(counter) == tiles.at("counters").at(counter));
    }
    CHECK(stages.at("operators") == tiles.at("operators"));  // kernels picked by dyn_dim
}

TEST_CASE("a GEMM takes as long on pipelines as on tiles", "[stages]") {
    // One that the memory's bandwidth bounds, with nothing but weights, and one that the arrays do. Pipelines know of
    // no rows that the streams of 144 tiles close for each other.
    const auto [size, bound] = GENERATE(std::pair<std::string, double>("--m 16 --n 16384 --k 8192", 0.04),
                                        std::pair<std::string, double>("--m 4096 --n 2048 --k 2048", 0.02));
    CAPTURE(size);
    const auto cycles = [&size = size](const std::string& chip) {
        const std::string file = scratch("gemm_" + chip + ".json");
        const Outcome outcome = sy_sim("gemm --platform configs/platforms/adyna.yaml " + size +
                                       " --set chip.impl=" + chip + " --json " + file);
        REQUIRE(outcome.status == 0);
        const json result = json::parse(read_text(file));
        CHECK(result.at("ok") == true);
        return result.at("cycles");
    };
    CHECK(difference(cycles("stages"), cycles("tiles")) < bound);
}
