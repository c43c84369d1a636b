// SPDX-License-Identifier: Apache-2.0
// The generator of pairs by itself: the same seed makes the same pair, and nothing that concerns timing is left out.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/property/random_network.h"
#include "switchyard/testbenches/property/random_platform.h"

using namespace switchyard;
using namespace switchyard::testing;

TEST_CASE("a seed makes one network and one platform", "[property]") {
    for (const std::uint64_t seed : {1u, 2u, 77u}) {
        RandomSource first(seed, 0), second(seed, 0), other(seed, 1);
        const std::string network = random_network(first, PairSize::small).yaml;
        CHECK(network == random_network(second, PairSize::small).yaml);
        CHECK(network != random_network(other, PairSize::small).yaml);
        CHECK(random_platform(first, PairSize::small) == random_platform(second, PairSize::small));
    }
}

TEST_CASE("random networks have every kind of operator and of routing", "[property]") {
    std::string all;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomSource random(seed, 0);
        all += random_network(random, PairSize::small).yaml;
    }
    for (const char* word : {"kind: convolution",
                             "kind: depthwise",
                             "kind: pool",
                             "kind: matmul",
                             "kind: attention",
                             "kind: elementwise",
                             "kind: norm",
                             "kind: global_pool",
                             "kind: switch",
                             "kind: merge",
                             "kind: sink",
                             "choose: one",
                             "choose: any",
                             "mode: exclusive",
                             "mode: sum",
                             "groups: ",
                             "add: ",
                             "keep: ",
                             "zipf: ",
                             "patience: ",
                             "drift: ",
                             "correlation: ",
                             "batch: 1\n",
                             "samples_per_input: 4\n"}) {
        INFO(word);
        CHECK(all.find(word) != std::string::npos);
    }
}

TEST_CASE("random platforms draw every key that concerns the timing of both models", "[property]") {
    const std::map<std::string, const char*> left_out{
        {"chip.name", "no timing"},
        {"host.image_window_bytes", "no timing"},
        {"chip.impl", "what is compared"},
        {"chip.functional", "tiles only"},
        {"chip.ideal_kernel_store", "stages only"},
        {"chip.kernel_fitting", "stages only"},
        {"chip.online_scheduling_us", "stages only"},
        {"chip.check_protocol", "tiles only"},
        {"pe_array.impl", "tiles only"},
        {"pe_array.impl_of_tiles", "tiles only"},
        {"pe_array.acc", "values"},
        {"dispatcher.impl", "tiles only"},
        {"dispatcher.impl_of_tiles", "tiles only"},
        {"network_interface.impl", "tiles only"},
        {"network_interface.impl_of_tiles", "tiles only"},
        {"noc.impl", "tiles only"},
        {"noc.impl_of_tiles", "tiles only"},
        {"noc.routing_cycles", "flit"},
        {"noc.vc_alloc_cycles", "flit"},
        {"noc.switch_alloc_cycles", "flit"},
        {"noc.switch_cycles", "flit"},
        {"noc.credit_cycles", "flit"},
        {"noc.arbitration", "flit"},
        {"noc.switch_iterations", "flit"},
        {"noc.watchdog_cycles", "flit"},
        {"hbm.impl", "tiles only"},
        {"hbm.mapping", "text; impl bank"},
        {"hbm.page", "impl bank"},
        {"hbm.check_timing", "impl bank"},
        {"hbm.request_log", "impl bank"},
        {"host.memory_bytes", "no timing"},
    };
    const std::vector<std::string> drawn = drawn_keys();
    const std::set<std::string> drawn_once(drawn.begin(), drawn.end());
    CHECK(drawn_once.size() == drawn.size());
    for (const KeyDescription& key : platform::platform_keys()) {
        if (key.key.rfind("energy.", 0) == 0) continue;
        INFO(key.key);
        CHECK((drawn_once.count(key.key) == 1) != (left_out.count(key.key) == 1));
    }
    std::map<std::string, std::set<std::string>> values;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        RandomSource random(seed, 0);
        for (const auto& [key, value] : random_platform(random, PairSize::small)) values[key].insert(value);
    }
    for (const std::string& key : drawn) {
        INFO(key);
        CHECK_FALSE(values[key].empty());
    }
}
