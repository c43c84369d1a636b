// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/design.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

std::size_t max_kernels(const Image& image) {
    std::size_t max = 0;
    for (const TileProgram& tile : image.tiles)
        for (const TileOperator& op : tile.operators) max = std::max<std::size_t>(max, op.kernel_count);
    return max;
}

TEST_CASE("A design does without a mechanism, and keeps the others") {
    const Design adyna = find_design("adyna");
    const Design single = adyna.without({"multi_kernel"});
    CHECK_FALSE(single.has(Mechanism::multi_kernel));
    CHECK(single.has(Mechanism::frequency_weighting));
    const Design neither = adyna.without({"multi_kernel", "frequency_weighting"});
    CHECK_FALSE(neither.has(Mechanism::multi_kernel));
    CHECK_FALSE(neither.has(Mechanism::frequency_weighting));
    CHECK(find_design("adyna").has(Mechanism::multi_kernel));
}

TEST_CASE("Without routing there is nothing to group, share or sort") {
    const Design all = find_design("adyna").without({"routing"});
    CHECK(all.has(Mechanism::multi_kernel));
    CHECK(!all.has(Mechanism::grouping));
    CHECK(!all.has(Mechanism::sharing));
    CHECK(!all.has(Mechanism::compaction));
    // Sixteen experts with all samples each.
    const Model model = read_model("testbenches/data/moe16.yaml");
    CompileOptions options;
    options.without = {"routing"};
    CHECK_NOTHROW(compile(model.graph, large_chip(), options));
}

TEST_CASE("What a design cannot do without is refused") {
    CHECK_THROWS_WITH(find_design("adyna").without({"luck"}),
                      "mechanism: expected one of frequency_weighting, multi_kernel, pipelining, grouping, sharing, "
                      "compaction, routing, "
                      "found luck");
    CHECK_THROWS_WITH(find_design("m-tile").without({"multi_kernel"}),
                      "design m-tile: expected a mechanism that the design has (pipelining), found multi_kernel");
    CHECK_THROWS_AS(find_design("adyna").without({"multi_kernel", "multi_kernel"}), InputError);
}

TEST_CASE("One kernel an operator is what is left without several") {
    const Model model = read_model("testbenches/data/fig6.yaml");
    CompileOptions options;
    CHECK(max_kernels(compile(model.graph, mini_chip(), options)) > 1);
    options.without = {"multi_kernel"};
    CHECK(max_kernels(compile(model.graph, mini_chip(), options)) == 1);
}

TEST_CASE("Without frequency weighting it does not matter what is expected") {
    const Model model = read_model("configs/workloads/digits_skipnet.yaml");
    const std::size_t switches = model.graph.switches.size();
    const auto image = [&](std::uint64_t branch, const std::vector<std::string>& left_out) {
        const BatchRouting batch{128, {switches, std::vector<std::uint64_t>(128, branch)}};
        const Profile profile = profile_of(model.graph, {batch}, 128);
        CompileOptions options;
        options.profile = &profile;
        options.without = left_out;
        return encode(compile(model.graph, mini_chip(), options));
    };
    CHECK(image(1, {}) != image(2, {}));
    CHECK(image(1, {"frequency_weighting"}) == image(2, {"frequency_weighting"}));
}

TEST_CASE("Without pipelining operators work one after another, each on the whole chip") {
    const Model model = read_model("testbenches/data/static_chain.yaml");
    const auto segments = [&model](const std::vector<std::string>& left_out) {
        CompileOptions options;
        options.without = left_out;
        const Image image = compile(model.graph, mini_chip(), options);
        return image.chip.segments.size();
    };
    CHECK(segments({}) < model.graph.operators.size());
    CHECK(segments({"pipelining"}) == model.graph.operators.size());
}

}  // namespace
}  // namespace switchyard::sched
