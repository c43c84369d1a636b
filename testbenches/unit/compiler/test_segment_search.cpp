// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/adyna/compiler/segmentation.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

/// Of each operator the samples of one branch of an exclusive switch, seven tenths of those of another branch.
std::vector<double> shares(const DynGraph& graph) {
    std::vector<double> result;
    for (const Operator& one : graph.operators) {
        double share = 1;
        for (const BranchStep& step : one.path) {
            const Switch& around = graph.switches[static_cast<std::size_t>(step.switch_id)];
            share *= around.exclusive ? 1.0 / around.branches : 0.7;
        }
        result.push_back(share);
    }
    return result;
}

struct Network {
    Network(const std::string& name, const std::string& design_name, Weights which)
        : model(read_model("configs/workloads/" + name + ".yaml")),
          chip(large_chip()),
          workload(model.graph, chip, shares(model.graph)),
          search(workload, chip),
          design(find_design(design_name)),
          weights(which) {}
    Segmenter segmenter() { return Segmenter(search, design, chip.tiles(), 0, {}, weights); }
    int count() const { return static_cast<int>(model.graph.operators.size()); }

    Model model;
    HardwareDescription chip;
    Workload workload;
    StageSearch search;
    Design design;
    Weights weights;
};

TEST_CASE("No segment costs less than its lower bound") {
    const std::string name = GENERATE("tutel_moe", "dpsnet", "fbsnet_mcifarnet", "skipnet_resnet34", "pabee_bert");
    const std::string design = GENERATE("adyna", "m-tile");
    const Weights weights = GENERATE(Weights::loaded, Weights::resident);
    Network network(name, design, weights);
    // The plans of the one know nothing of the bounds of the other.
    Segmenter plans = network.segmenter(), bounds = network.segmenter();
    constexpr int kLongest = 24;
    double sum = 0;
    unsigned compared = 0;
    for (int first = 0; first < network.count(); first += 3) {
        if (!plans.may_cut(first)) continue;
        for (int last = first + 1; last <= std::min(network.count(), first + kLongest); ++last) {
            if (!plans.may_cut(last)) continue;
            const std::optional<SegmentPlan> plan = plans.segment(first, last);
            const double bound = bounds.min_cycles(first, last);
            if (!plan) continue;
            CAPTURE(name, design, first, last, bound, plan->cycles);
            CHECK(bound <= plan->cycles);
            sum += bound / plan->cycles;
            ++compared;
        }
    }
    CAPTURE(sum / compared);
    CHECK(compared > 20);
    CHECK(sum / compared >= 0.15);
}

namespace {

void check_against_dynamic_programme(const std::string& name) {
    const Weights weights = GENERATE(Weights::loaded, Weights::resident);
    Network network(name, "adyna", weights);
    Segmenter plans = network.segmenter(), search = network.segmenter();
    const auto count = static_cast<std::size_t>(network.count());
    struct Step {
        double cycles = std::numeric_limits<double>::infinity();
        int first = 0;
    };
    std::vector<Step> steps(count + 1);
    steps[0].cycles = 0;
    for (int first = 0; first < network.count(); ++first) {
        const double before = steps[static_cast<std::size_t>(first)].cycles;
        if (before == std::numeric_limits<double>::infinity() || !plans.may_cut(first)) continue;
        bool fitted = false;
        for (int last = first + 1; last <= network.count(); ++last) {
            if (!plans.may_cut(last)) continue;
            const std::optional<SegmentPlan> plan = plans.segment(first, last);
            if (!plan && fitted) break;
            if (!plan) continue;
            fitted = true;
            Step& step = steps[static_cast<std::size_t>(last)];
            if (before + plan->cycles < step.cycles) step = {before + plan->cycles, first};
        }
    }
    const std::vector<SegmentPlan> found = search.best();
    int last = network.count();
    for (auto segment = found.rbegin(); segment != found.rend(); ++segment) {
        REQUIRE(segment->last == last);
        CHECK(segment->first == steps[static_cast<std::size_t>(last)].first);
        const std::optional<SegmentPlan> plan = plans.segment(segment->first, segment->last);
        REQUIRE(plan);
        CHECK(segment->cycles == plan->cycles);
        CHECK(segment->tiles == plan->tiles);
        CHECK(segment->unit_samples == plan->unit_samples);
        last = segment->first;
    }
    CHECK(last == 0);
}

}  // namespace

TEST_CASE("A segmenter that shares what another has found out finds the same segments") {
    const std::string name = GENERATE("tutel_moe", "dpsnet", "fbsnet_mcifarnet");
    const std::string design = GENERATE("adyna", "m-tile");
    const unsigned part = GENERATE(1U, 3U);  // on a third of the tiles, branches of fbsnet_mcifarnet share them
    Network network(name, design, Weights::resident);
    const unsigned tiles = network.chip.tiles() / part;
    Segmenter loading(network.search, network.design, tiles, 0), sharing(loading, Weights::resident);
    Segmenter alone(network.search, network.design, tiles, 0, {}, Weights::resident);
    const auto check_same = [](const std::vector<SegmentPlan>& found, const std::vector<SegmentPlan>& expected) {
        REQUIRE(found.size() == expected.size());
        for (std::size_t s = 0; s < found.size(); ++s) {
            CHECK(found[s].last == expected[s].last);
            CHECK(found[s].unit_samples == expected[s].unit_samples);
            CHECK(found[s].tiles == expected[s].tiles);
            CHECK(found[s].tile_groups == expected[s].tile_groups);
            CHECK(found[s].cycles == expected[s].cycles);
        }
    };
    CAPTURE(name, design, tiles);
    const std::vector<SegmentPlan> loaded = loading.best_or_nothing(), resident = alone.best_or_nothing();
    check_same(sharing.best_or_nothing(), resident);
    check_same(loading.best_or_nothing(), loaded);
}

TEST_CASE("The segments are those of a dynamic programme over the plans of all segments") {
    check_against_dynamic_programme(GENERATE("digits_early_exit", "digits_skipnet"));
}

TEST_CASE("The segments of larger networks are those of a dynamic programme too", "[.ci-long]") {
    check_against_dynamic_programme(GENERATE("tutel_moe", "fbsnet_mcifarnet"));
}

}  // namespace
}  // namespace switchyard::sched
