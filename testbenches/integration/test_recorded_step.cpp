// SPDX-License-Identifier: Apache-2.0
// A training step that was recorded on a device, as the network of the system dynn_offload.
#include <string>

#include <nlohmann/json.hpp>

#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/integration/programs.h"

using namespace switchyard::testing;

namespace {

constexpr unsigned kLayers = 8;

std::string memory_of(const std::string& tensor) {
    return R"({"INSTRUCTION":"MEMORY","NAME":")" + tensor + R"(","MEMORY":"100000000"})" + "\n";
}
std::string call(const std::string& name, const std::string& arguments, const std::string& result) {
    return R"({"INSTRUCTION":"CALL","NAME":")" + name + R"(","ARGS":[)" + arguments + R"(],"RESULT":[")" + result +
           R"("],"TIME":"1000000"})" + "\n" + memory_of(result) + R"({"INSTRUCTION":"ALIAS","NAME":")" + result +
           R"(","ALIAS":"-1"})" + "\n";
}
std::string release(const std::string& tensor) {
    return R"({"INSTRUCTION":"RELEASE","NAME":")" + tensor + "\"}\n";
}
std::string in_quotes(const std::string& name) {
    return '"' + name + '"';
}

/// A chain of layers and its backward pass, 1 ms an operator, 100 MB a tensor.
std::string chain() {
    std::string log = R"({"INSTRUCTION":"CONSTANT","NAME":"a0"})" + std::string("\n") + memory_of("a0");
    for (unsigned i = 1; i <= kLayers; ++i)
        log += call("relu", in_quotes("a" + std::to_string(i - 1)), "a" + std::to_string(i));
    std::string gradient = "a" + std::to_string(kLayers);
    for (unsigned i = kLayers; i-- > 0;) {
        const std::string input = "a" + std::to_string(i), next = "g" + std::to_string(i);
        log += call("relu_backward", in_quotes(gradient) + "," + in_quotes(input), next) + release(gradient);
        gradient = next;
        if (i > 0) log += release(input);
    }
    return log;
}

std::string network_of(const std::string& log) {
    write_text(scratch("step.log"), log);
    write_text(scratch("step.yaml"), "name: chain\ntraining: {network: recorded, log: step.log, batch: 4}\n");
    return scratch("step.yaml");
}

Outcome run(const std::string& design, const std::string& network, const std::string& budget_gb) {
    return sy_sim("run --design " + design + " --platform configs/platforms/training_rtx6000.yaml --workload " +
                  network + " --batches 3 --set training.functional=yes --set training.budget_gb=" + budget_gb +
                  " --report " + scratch("recorded"));
}

nlohmann::json summary_of(const std::string& design, const std::string& network, const std::string& budget_gb) {
    const Outcome outcome = run(design, network, budget_gb);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
    return read_json(scratch("recorded/report.json")).at("summary");
}

}  // namespace

TEST_CASE("a step recorded in a log of the DTR simulator runs under each memory manager", "[cli][dynn_offload]") {
    const std::string network = network_of(chain());
    // The activations, the input and the first gradient live at once.
    constexpr double kPeakBytes = (kLayers + 2) * 1e8, kStepUs = 2 * kLayers * 1e3;
    const nlohmann::json whole = summary_of("unmanaged", network, "2");
    CHECK(whole.at("unmanaged_peak_bytes") == kPeakBytes);
    CHECK(whole.at("latency_us").at("mean") == kStepUs);
    CHECK(summary_of("unmanaged", network, "0.5").at("out_of_memory") == 3);

    const nlohmann::json dtr = summary_of("dtr", network, "0.5");
    CHECK(dtr.at("trained") == 3);
    CHECK(dtr.at("recompute_over_compute") > 0);
    CHECK(summary_of("dtr", network, "2").at("recompute_over_compute") == 0);

    const nlohmann::json oracle = summary_of("sentinel-oracle", network, "0.8");
    CHECK(oracle.at("trained") == 3);
    CHECK(oracle.at("recompute_over_compute") == 0);
    CHECK(oracle.at("breakdown_us").at("migration not hidden") > 0);
    CHECK(summary_of("uvm", network, "0.8").at("breakdown_us").at("page faults") > 0);
}

TEST_CASE("logs of recorded steps that are truncated or missing are refused", "[cli][bad][dynn_offload]") {
    const std::string log = chain();
    const std::string within_operator = log.substr(0, log.find(R"({"INSTRUCTION":"MEMORY","NAME":"a2")"));
    check_refused(run("dtr", network_of(within_operator), "1"),
                  {"step.log:", "expected MEMORY of a2, found the end of the log"});
    check_refused(run("dtr", network_of(log.substr(0, log.size() / 2)), "1"),
                  {"step.log:32: expected JSON, found other text from byte "});
    const std::string network = network_of(log);
    write_text(network, "training: {network: recorded, log: nowhere.log}\n");
    check_refused(run("dtr", network, "1"), {"nowhere.log"});
    write_text(network, "training: {network: recorded}\n");
    check_refused(run("dtr", network, "1"),
                  {"step.yaml", "training.log: expected the log of a recorded network, found none"});
    write_text(network, "training: {network: lstm, log: step.log}\n");
    check_refused(run("dtr", network, "1"),
                  {"step.yaml", "training.log: expected none, found one; set network: recorded"});
}
