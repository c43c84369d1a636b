// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "switchyard/platform/chip/chip.h"
#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/platform/systems/adyna/report.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/tlm/base_protocol_checker.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

struct Digits {
    PlatformConfig platform = read_platform(kMini);
    std::vector<std::uint8_t> bytes;
    Image image;
    std::vector<BatchRouting> routing;

    explicit Digits(std::size_t batches, const char* chip = "tiles") {
        platform.chip.impl = chip;
        const std::string text = read_text(digits_image());
        bytes.assign(text.begin(), text.end());
        image = decode_image_for(platform, bytes, "digits");
        routing = read_trace(kDigitsTrace, signatures_of(image.meta), image.meta.batch_samples, batches);
    }
    nlohmann::ordered_json report(const RunResult& result) const {
        return make_report(platform, image, routing, {"trace", 0}, result);
    }
};

std::vector<std::string> failures(const nlohmann::ordered_json& report) {
    std::vector<std::string> names;
    for (const auto& check : report.at("conservation"))
        if (!check.at("ok").get<bool>()) names.push_back(check.at("name").get<std::string>());
    return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("the checks fail when the chip did not do what the routing asks for", "[report]") {
    Digits digits(2, GENERATE("tiles", "stages"));
    in_child([&] {
        const RunResult result = run_simulation(digits.platform, digits.image, digits.bytes, digits.routing);
        CHECK(digits.report(result).at("ok") == true);

        // One sample that skipped block 1 is said to have gone through it, and back.
        std::vector<std::uint64_t>& masks = digits.routing[1].masks[1];
        const auto skipped = std::find(masks.begin(), masks.end(), 1);
        REQUIRE(skipped != masks.end());
        *skipped = 2;
        const nlohmann::ordered_json wrong = digits.report(result);
        CHECK(wrong.at("ok") == false);
        const std::vector<std::string> names = failures(wrong);
        CHECK(names.size() == 3);
        CHECK(has(names, "samples of switch block1 to branch 0"));
        CHECK(has(names, "samples of switch block1 to branch 1"));
        CHECK(has(names, "multiply-accumulates that the routing asks for = done"));
    });
}

TEST_CASE("a chip that cannot go on is told from one that has finished", "[report]") {
    Digits digits(1, GENERATE("tiles", "stages"));
    in_child([&] {
        // The gate of block 0 waits for what the stem's tiles no longer send.
        for (TileProgram& tile : digits.image.tiles) {
            for (TileOperator& op : tile.operators) {
                const auto on_chip = [&tile](std::uint16_t id) { return tile.edge(id).path == EdgePath::on_chip; };
                if (op.op_id == 0)
                    op.out_edges.erase(std::remove_if(op.out_edges.begin(), op.out_edges.end(), on_chip),
                                       op.out_edges.end());
            }
        }
        const auto run = [&] { run_simulation(digits.platform, digits.image, encode(digits.image), digits.routing); };
        using Catch::Matchers::ContainsSubstring;
        using Catch::Matchers::StartsWith;
        if (digits.platform.chip.impl == "tiles") {
            CHECK_THROWS_WITH(run(), StartsWith("no progress after ") && ContainsSubstring("waits for"));
        } else {
            ExpectReport uncaught("uncaught exception");
            CHECK_THROWS_WITH(run(), ContainsSubstring("chip.stages: no progress: operator 0 unit"));
        }
    });
}

TEST_CASE("every key of a report is in docs/report_format.md", "[report][docs]") {
    Digits digits(1);
    in_child([&] {
        const RunResult result = run_simulation(digits.platform, digits.image, digits.bytes, digits.routing);
        const std::string text = read_text("docs/report_format.md");
        const auto flat = digits.report(result).flatten();
        for (const auto& [path, value] : flat.items()) {
            if (path.rfind("/fidelity/", 0) == 0) continue;  // components, not keys of the format
            if (path.rfind("/counters/", 0) == 0) continue;
            std::string key = path.substr(path.rfind('/') + 1);
            if (key.find_first_not_of("0123456789") == std::string::npos) {  // an element of a list
                const std::string list = path.substr(0, path.rfind('/'));
                key = list.substr(list.rfind('/') + 1);
            }
            INFO(path);
            CHECK(text.find("`" + key + "`") != std::string::npos);
        }
    });
}

TEST_CASE("profiles are read back while the run goes on", "[report]") {
    RunOptions every_batch;
    every_batch.profile_interval = 1;
    Digits digits(3, GENERATE("tiles", "stages"));
    in_child([&] {
        const RunResult result =
            run_simulation(digits.platform, digits.image, digits.bytes, digits.routing, every_batch);
        const auto& profiles = result.host.profiles;
        REQUIRE(profiles.size() == 3);
        std::vector<std::uint64_t> invocations;
        for (const SimulatedHost::Profile& profile : profiles) {
            REQUIRE(profile.by_tile.size() == 4);
            std::uint64_t sum = 0;
            for (const auto& tile : profile.by_tile)
                for (const ProfileRecord& record : tile) sum += record.invocations;
            invocations.push_back(sum);
        }
        CHECK(profiles[0].batches == 1);
        CHECK(profiles[2].batches == 3);
        CHECK(invocations[0] > 0);
        CHECK(invocations[1] == 2 * invocations[0]);
        CHECK(invocations[2] == 3 * invocations[0]);
    });
}

TEST_CASE("host and chip keep the base protocol on both links between them", "[report][protocol]") {
    Digits digits(2);
    in_child([&] {
        SimulationRegistry registry;
        SimulatedHost::Job job;
        job.image = &digits.image;
        job.image_bytes = digits.bytes;
        job.routing = &digits.routing;
        job.tiles = digits.platform.tiles();
        job.run_begins = job.run_ends = [] {};
        Chip chip("chip", digits.platform, registry);
        SimulatedHost host("host", digits.platform.host_memory, job);
        BaseProtocolChecker<> config("config"), dma("dma");
        sc_core::sc_signal<bool> irq("irq");
        host.config.bind(config.target_socket);
        config.initiator_socket.bind(chip.host.config);
        chip.host.host_memory.bind(dma.target_socket);
        dma.initiator_socket.bind(host.memory.port);
        chip.host.irq(irq);
        host.irq(irq);
        sc_core::sc_start();
        CHECK(host.result().finished);
    });
}

TEST_CASE("batches do not overlap on the chip, their transfers do", "[report]") {
    Digits digits(4, GENERATE("tiles", "stages"));
    in_child([&] {
        const RunResult result = run_simulation(digits.platform, digits.image, digits.bytes, digits.routing);
        const auto& batches = result.host.batches;
        for (std::size_t b = 1; b < batches.size(); ++b) {
            CHECK(batches[b].doorbell > batches[b - 1].interrupt);
            // Inputs and masks were moved beforehand: only register accesses lie between.
            CHECK(batches[b].doorbell - batches[b - 1].interrupt < sc_core::sc_time(100, sc_core::SC_NS));
        }
    });
}

TEST_CASE("a run that ends early reports its batches as a run of no more batches does", "[report]") {
    const char* const chip = GENERATE("tiles", "stages");
    INFO(chip);
    const auto report_of = [chip](std::size_t batches, std::size_t last) {
        const std::string file = scratch("early.json");
        Digits digits(batches, chip);
        in_child([&] {
            RunOptions options;
            std::size_t begun = 0;
            options.ends_early = [&begun, last] { return ++begun == last; };
            const RunResult result =
                run_simulation(digits.platform, digits.image, digits.bytes, digits.routing, options);
            digits.routing.resize(result.host.batches.size());
            write_text(file, digits.report(result).dump());
        });
        return read_json(file);
    };
    const nlohmann::json early = report_of(6, 3);
    CHECK(early.at("ok") == true);
    CHECK(early.at("batches").size() == 3);
    CHECK(early == report_of(3, 6));
}
