#include <algorithm>

#include "switchyard/sw_scheduler/backend/compile.h"
#include "switchyard/sw_scheduler/backend/schedule.h"
#include "switchyard/sw_scheduler/formats/error.h"
#include "switchyard/sw_scheduler/model/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/scheduler_backend/chips.h"

namespace switchyard::sched {
namespace {

std::size_t most_kernels(const Image& image) {
    std::size_t most = 0;
    for (const TileProgram& tile : image.tiles)
        for (const TileOperator& op : tile.operators) most = std::max<std::size_t>(most, op.kernel_count);
    return most;
}

TEST_CASE("A design does without a mechanism, and keeps the others") {
    const Design adyna = find_design("adyna");
    const Design single = without(adyna, {"multi_kernel"});
    CHECK_FALSE(single.multi_kernel);
    CHECK(single.frequency_weighted);
    const Design neither = without(adyna, {"multi_kernel", "frequency_weighting"});
    CHECK_FALSE(neither.multi_kernel);
    CHECK_FALSE(neither.frequency_weighted);
    CHECK(find_design("adyna").multi_kernel);
}

TEST_CASE("Without routing there is nothing to group, share or sort") {
    const Design all = without(find_design("adyna"), {"routing"});
    CHECK(all.multi_kernel);
    CHECK(!all.groups_branches);
    CHECK(!all.shares_tiles);
    CHECK(!all.compacts_batches);
    // Sixteen experts with all samples each.
    const Model model = read_model("testbenches/data/moe16.yaml");
    CompileOptions options;
    options.without = {"routing"};
    CHECK_NOTHROW(compile(model.graph, large_chip(), options));
}

TEST_CASE("What a design cannot do without is refused") {
    CHECK_THROWS_WITH(
        without(find_design("adyna"), {"luck"}),
        "mechanism luck: unknown; known mechanisms: frequency_weighting, multi_kernel, grouping, sharing, compaction, "
        "routing");
    CHECK_THROWS_WITH(without(find_design("m-tile"), {"multi_kernel"}),
                      "design m-tile: has no mechanism multi_kernel to do without");
    CHECK_THROWS_AS(without(find_design("adyna"), {"multi_kernel", "multi_kernel"}), InputError);
}

TEST_CASE("One kernel an operator is what is left without several") {
    const Model model = read_model("testbenches/data/fig6.yaml");
    CompileOptions options;
    CHECK(most_kernels(compile(model.graph, mini_chip(), options)) > 1);
    options.without = {"multi_kernel"};
    CHECK(most_kernels(compile(model.graph, mini_chip(), options)) == 1);
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

}  // namespace
}  // namespace switchyard::sched
