// SPDX-License-Identifier: Apache-2.0
// The array's testbench and the trained digits supernet, with RTL in place of the model or beside it.
#include <memory>

#include <nlohmann/json.hpp>

#include "switchyard/platform/system/system.h"
#include "switchyard/rtl/dot_product_array/make_dot_product_core.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/sushi/dot_product_bench.h"

namespace switchyard::platform {
std::unique_ptr<System> make_sushi_system();
}

using namespace switchyard;
using test::DotProductBench;
using test::RandomLayer;

TEST_CASE("dot-product array in RTL: random convolutions", "[cosim]") {
    for (const sched::DotProductShape shape : {sched::DotProductShape{4, 4}, sched::DotProductShape{3, 6}})
        testing::in_child([&] {
            hw::DotProductArray::Config config;
            config.rows = shape.rows;
            config.columns = shape.columns;
            config.impl = "lockstep";
            DotProductBench bench("bench", config, &rtl::make_dot_product_core, &rtl::make_line_buffer);
            sc_core::sc_start(sc_core::SC_ZERO_TIME);
            RandomSource random(9, shape.rows);
            for (int i = 0; i < 40; ++i) {
                const RandomLayer layer(random, shape);
                std::uint64_t cycles = 0;
                REQUIRE(bench.run(layer, random.integer(1, layer.layer.output_height()), cycles) ==
                        layer.results(DotProductBench::kInputZero, DotProductBench::kOutputZero));
            }
        });
}

TEST_CASE("dot-product array in RTL: SubNets of the digits supernet end to end", "[cosim]") {
    for (const char* subnet : {"1", "3"})
        testing::in_child([&] {
            const std::string configs = std::string(SOURCE_FOLDER) + "/configs/";
            platform::Point point;
            point.design = "sushi";
            point.workload = configs + "workloads/sushi/digits_supernet.yaml";
            point.platform = configs + "platforms/sushi_small.yaml";
            point.overrides = {
                {"scheduler.only_subnet", subnet}, {"accelerator.impl", "cycle"}, {"array.impl", "lockstep"}};
            point.work.batches = 1;
            const auto report = platform::make_sushi_system()->prepare(point)->run();
            CHECK(report.at("ok") == true);
            CHECK(report.at("conservation").dump().find("golden reference") != std::string::npos);
        });
}
