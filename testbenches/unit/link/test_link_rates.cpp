// SPDX-License-Identifier: Apache-2.0
// Rates, latencies and sizes at the ends of their ranges.
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "switchyard/hw/link/collective_run.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/collectives/collectives.h"
#include "switchyard/sw_scheduler/collectives/link_topology.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;

namespace {

sched::CollectiveProgram message(std::uint64_t bytes, double step_ns = 0) {
    sched::CollectiveProgram program;
    program.name = "message";
    program.devices = 4;
    program.buffer_bytes = bytes;
    sched::Transfer transfer;
    transfer.from = 0;
    transfer.to = 2;
    transfer.bytes = bytes;
    transfer.step_ns = step_ns;
    program.transfers.push_back(transfer);
    return program;
}

struct Outcome {
    double ns = std::numeric_limits<double>::infinity();  ///< if it is refused
    double busiest = 0;
};

Outcome run(const std::string& family, const sched::LinkKind& kind, double factor,
            const sched::CollectiveProgram& program, const std::string& rate) {
    hw::MessageEngine::Config config;
    config.rate = rate;
    Outcome outcome;
    try {
        const auto topology =
            std::make_shared<sched::LinkTopology>(sched::make_link_topology(family, 4, kind).scaled(factor));
        const hw::CollectiveResult result = hw::run_collective(topology, config, program);
        outcome.ns = result.ns;
        for (const double busy : result.channel_busy) {
            CHECK(busy >= 0);
            CHECK(busy <= 1);
            outcome.busiest = std::max(outcome.busiest, busy);
        }
    } catch (const InputError&) {
    } catch (const std::invalid_argument&) {
    }
    return outcome;
}

}  // namespace

TEST_CASE("slower links are never faster: they take longer, or are refused", "[link]") {
    const std::string family = GENERATE(as<std::string>{}, "ring", "switch", "pcie_tree");
    const std::string rate = GENERATE(as<std::string>{}, "copy", "kernel");
    const std::uint64_t bytes = GENERATE(std::uint64_t{1}, std::uint64_t{1024}, std::uint64_t{1} << 24);
    sched::LinkKind kind;
    kind.kernel_gb_per_s = 20;
    double before = 0;
    unsigned ran = 0, refused = 0;
    for (int exponent = 306; exponent >= -320; --exponent) {
        CAPTURE(family, rate, bytes, exponent);
        const Outcome outcome = run(family, kind, std::pow(10.0, exponent), message(bytes), rate);
        if (exponent > 300) continue;  // some are refused because the rate is no number
        CHECK(outcome.ns >= before);
        before = outcome.ns;
        ++(std::isinf(outcome.ns) ? refused : ran);
        if (exponent == -3) CHECK(outcome.ns > 1e3 * static_cast<double>(bytes) / 25);
    }
    CHECK(ran > 300);
    CHECK(refused > 290);
}

TEST_CASE("longer latencies and steps of links are never faster", "[link]") {
    double before = 0, before_step = 0;
    for (int exponent = -300; exponent <= 300; ++exponent) {
        CAPTURE(exponent);
        const double ns = std::pow(10.0, exponent);
        sched::LinkKind kind;
        kind.latency_ns = ns;
        const double latency = run("switch", kind, 1, message(1024), "copy").ns;
        CHECK(latency >= before);
        before = latency;
        const double step = run("switch", {}, 1, message(1024, ns), "copy").ns;
        CHECK(step >= before_step);
        before_step = step;
    }
    CHECK(std::isinf(before));
    CHECK(std::isinf(before_step));
}
