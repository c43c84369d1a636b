// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/adyna/compiler/splits.h"

#include <chrono>
#include <utility>
#include <vector>

#include "chips.h"
#include "switchyard/sw_scheduler/adyna/compiler/stage.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

using Splits = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// One factor after another, those that leave the blocks as they are left out.
Splits one_by_one(std::uint32_t first_size, std::uint32_t second_size, unsigned factors, unsigned max_second) {
    Splits splits;
    for (unsigned first = 1; first <= std::min<std::uint32_t>(factors, first_size); ++first) {
        const std::uint32_t tight = tight_factor(first_size, first);
        if (!splits.empty() && splits.back().first == tight) continue;
        splits.emplace_back(tight, tight_factor(second_size, std::min({factors / tight, second_size, max_second})));
    }
    return splits;
}

Splits visited(std::uint32_t first_size, std::uint32_t second_size, unsigned factors, unsigned max_second) {
    Splits splits;
    for_each_split(first_size, second_size, factors, max_second,
                   [&](std::uint32_t first, std::uint32_t second) { splits.emplace_back(first, second); });
    return splits;
}

}  // namespace

TEST_CASE("splits are those that differ in block size, each once", "[scheduler][splits]") {
    for (const std::uint32_t first : {1u, 2u, 7u, 56u, 64u, 97u, 1000u}) {
        for (const std::uint32_t second : {1u, 3u, 56u, 112u}) {
            for (const unsigned factors : {1u, 2u, 5u, 64u, 144u, 1000u, 4096u}) {
                for (const unsigned max : {1u, 32u, 4096u}) {
                    INFO(first << " x " << second << " on " << factors << ", " << max);
                    REQUIRE(visited(first, second, factors, max) == one_by_one(first, second, factors, max));
                }
            }
        }
    }
}

TEST_CASE("few of many factors are looked at", "[scheduler][splits]") {
    std::size_t visits = 0;
    for_each_split(65535, 1, 65535, 1, [&visits](std::uint32_t, std::uint32_t) { ++visits; });
    CHECK(visits < 2 * 256 + 1);
}

TEST_CASE("the best stage is found among all partitions, on any number of tiles", "[scheduler][stage]") {
    const Model model = read_model("testbenches/data/moe.yaml");
    const HardwareDescription chip = large_chip();
    const Workload workload(model.graph, chip, std::vector<double>(model.graph.operators.size(), 1.0));
    const std::uint32_t unit = model.graph.batch_samples();
    for (int op = 0; op < static_cast<int>(model.graph.operators.size()); ++op) {
        const Operator& one = model.graph.operators[static_cast<std::size_t>(op)];
        const BufferSlots slots{BufferSlots::Inputs(one.inputs.size(), 2)};
        StageSearch search(workload, chip);
        for (const unsigned tiles : {1u, 2u, 3u, 7u, 12u, 144u}) {
            const Stage& found = search.best({op, unit, slots}, tiles);
            double fewest = std::numeric_limits<double>::infinity();
            for (std::uint32_t k = 1; k <= std::min<std::uint32_t>(tiles, one.shape.out_channels); ++k) {
                for (const auto& [n, p] : one_by_one(unit, one.shape.out_rows, tiles / k, chip.tiles())) {
                    const Stage stage = search.spread({op, unit, slots}, k,
                                                      {static_cast<std::uint16_t>(unit), static_cast<std::uint16_t>(n),
                                                       static_cast<std::uint16_t>(p)});
                    if (stage.fits) fewest = std::min(fewest, stage.cycles());
                }
            }
            INFO(one.name << " on " << tiles);
            REQUIRE(found.fits == (fewest < std::numeric_limits<double>::infinity()));
            if (found.fits) CHECK(found.cycles() == fewest);
        }
    }
}
