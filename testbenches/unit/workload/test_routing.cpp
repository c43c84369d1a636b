// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "model_text.h"
#include "switchyard/sw_scheduler/workload/route_provider.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

const std::uint32_t kBatchSamples = 128;

std::vector<SwitchSignature> two_switches(std::uint32_t branches = 2, bool exclusive = true) {
    return {{"s", branches, -1, 0, exclusive}, {"t", branches, -1, 0, exclusive}};
}

/// Switches with these probabilities, and nothing else declared.
std::vector<SwitchRoutes> routes(const std::vector<std::vector<double>>& probability) {
    std::vector<SwitchRoutes> result;
    for (const auto& one : probability) result.emplace_back().probability = one;
    return result;
}

/// Share of the samples of the first `batches` batches for which `test(masks of one sample)` holds.
template <class Test>
double rate(const RouteGenerator& generator, std::uint64_t batches, Test test) {
    double hits = 0, samples = 0;
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
        const BatchRouting routing = generator.batch(batch);
        for (std::uint32_t sample = 0; sample < routing.samples; ++sample) {
            hits += test(routing.masks[0][sample], routing.masks[1][sample]);
            ++samples;
        }
    }
    return hits / samples;
}

/// Five standard deviations of a rate measured on `batches` batches.
double rate_bound(double probability, std::uint64_t batches) {
    return 5 * std::sqrt(probability * (1 - probability) / (static_cast<double>(batches) * kBatchSamples));
}

}  // namespace

TEST_CASE("generated routes have the declared rates", "[routing]") {
    const std::uint64_t batches = 200;
    RouteDistribution distribution;
    distribution.correlation = 0.5;
    distribution.switches = routes({{0.1, 0.3, 0.0, 0.6}, {0.25, 0.25, 0.25, 0.25}});
    const RouteGenerator generator(distribution, two_switches(4), kBatchSamples);
    for (unsigned branch = 0; branch < 4; ++branch) {
        const double first = distribution.switches[0].probability[branch];
        CHECK(rate(generator, batches, [&](auto s, auto) { return s == 1u << branch; }) ==
              Approx(first).margin(rate_bound(first, batches) + 1e-12));
        CHECK(rate(generator, batches, [&](auto, auto t) { return t == 1u << branch; }) ==
              Approx(0.25).margin(rate_bound(0.25, batches)));
    }
}

TEST_CASE("a switch that chooses any branch always chooses one", "[routing]") {
    const std::uint64_t batches = 200;
    RouteDistribution distribution;
    distribution.switches = routes({{0.4, 0.4, 0.4, 0.4}, {0.4, 0.4, 0.4, 0.4}});
    const RouteGenerator generator(distribution, two_switches(4, false), kBatchSamples);
    CHECK(rate(generator, batches, [](auto s, auto t) { return s == 0 || t == 0; }) == 0);
    // Four equal branches: each has a quarter of the cases in which none was drawn.
    const double expected = 0.4 + std::pow(0.6, 4) / 4;
    for (unsigned branch = 0; branch < 4; ++branch)
        CHECK(rate(generator, batches, [&](auto s, auto) { return s >> branch & 1; }) ==
              Approx(expected).margin(rate_bound(expected, batches)));
}

TEST_CASE("a sample's difficulty ties its switches together", "[routing]") {
    const std::uint64_t batches = 200;
    for (const double correlation : {0.0, 0.5, 0.9}) {
        RouteDistribution distribution;
        distribution.correlation = correlation;
        distribution.switches = routes({{0.5, 0.5}, {0.5, 0.5}});
        const RouteGenerator generator(distribution, two_switches(), kBatchSamples);
        // Orthant probability of two normal variables (Sheppard, 1899).
        const double expected = 0.25 + std::asin(correlation) / (2 * M_PI);
        CHECK(rate(generator, batches, [](auto s, auto t) { return s == 2 && t == 2; }) ==
              Approx(expected).margin(rate_bound(expected, batches)));
    }
}

TEST_CASE("batches of samples that are alike vary as a normal latent of their own", "[routing]") {
    const std::uint64_t batches = 4000;
    for (const double correlation : {0.0, 0.25, 0.75}) {
        CAPTURE(correlation);
        RouteDistribution distribution;
        distribution.correlation = 1;
        distribution.batch_correlation = correlation;
        distribution.switches = routes({{0.5, 0.5}, {0.5, 0.5}});
        const RouteGenerator generator(distribution, two_switches(), kBatchSamples);
        double sum = 0, squares = 0;
        for (std::uint64_t batch = 0; batch < batches; ++batch) {
            const auto masks = generator.batch(batch).masks[0];
            const double share =
                static_cast<double>(std::count(masks.begin(), masks.end(), 1)) / static_cast<double>(kBatchSamples);
            sum += share;
            squares += share * share;
        }
        const double mean = sum / batches, variance = squares / batches - mean * mean;
        // Two samples of a batch take the same branch with the orthant probability (Sheppard, 1899).
        const double together = std::asin(correlation) / (2 * M_PI);
        const double expected = together + (0.25 - together) / kBatchSamples;
        CHECK(variance == Approx(expected).epsilon(0.1));
        CHECK(mean == Approx(0.5).margin(5 * std::sqrt(expected / batches)));
    }
}

TEST_CASE("rates drift as declared and keep their mean", "[routing]") {
    RouteDistribution distribution;
    distribution.drift_amplitude = 0.2;
    distribution.drift_period_batches = 4;
    distribution.switches = routes({{0.3, 0.7}, {0.5, 0.5}});
    double mean = 0;
    for (std::uint64_t phase = 0; phase < 4; ++phase) {
        double hits = 0;
        const std::uint64_t batches = 100;
        const RouteGenerator generator(distribution, two_switches(), kBatchSamples);
        for (std::uint64_t batch = 0; batch < batches; ++batch) {
            const auto masks = generator.batch(4 * batch + phase).masks[0];
            for (const std::uint64_t mask : masks) hits += mask == 1;
        }
        const double measured = hits / (batches * kBatchSamples);
        const double sine[] = {0, 1, 0, -1};
        const double expected = 0.3 + 4 * 0.2 * 0.3 * 0.7 * sine[phase];
        CHECK(measured == Approx(expected).margin(rate_bound(expected, batches)));
        mean += measured / 4;
    }
    CHECK(mean == Approx(0.3).margin(rate_bound(0.3, 400)));
}

TEST_CASE("a nested switch sees only the samples that are sent to it", "[routing]") {
    const Model model = read_model("testbenches/data/early_exit.yaml");
    for (const BatchRouting& routing : declared_routing(model, 50))
        for (std::uint32_t sample = 0; sample < routing.samples; ++sample)
            CHECK((routing.masks[1][sample] != 0) == (routing.masks[0][sample] == 1));
}

TEST_CASE("a batch depends on the seed and its index only", "[routing]") {
    const Model model = read_model("configs/workloads/skipnet_resnet34.yaml");
    const auto switches = model.graph.signatures();
    const RouteGenerator generator(*model.routing.distribution, switches, 128);
    const auto in_order = declared_routing(model, 5);
    CHECK(generator.batch(4).masks == in_order[4].masks);
    CHECK(generator.batch(3).masks == in_order[3].masks);
    CHECK(in_order[3].masks != in_order[4].masks);
    RouteDistribution other = *model.routing.distribution;
    ++other.seed;
    CHECK(RouteGenerator(other, switches, 128).batch(4).masks != in_order[4].masks);

    // From a second implementation, in Python, of std::seed_seq, std::mt19937_64 and the Box-Muller transform.
    RouteDistribution fixed;
    fixed.seed = 7;
    fixed.switches = routes({{0.5, 0.5}, {0.5, 0.5}});
    const auto masks = RouteGenerator(fixed, two_switches(), 8).batch(3).masks;
    CHECK(masks[0] == std::vector<std::uint64_t>{2, 2, 2, 1, 2, 1, 1, 1});
    CHECK(masks[1] == std::vector<std::uint64_t>{2, 2, 1, 1, 2, 1, 2, 2});
}

TEST_CASE("routes may begin with a later batch, generated or recorded", "[routing]") {
    RouteRequest request = declared_routes(read_model("configs/workloads/skipnet_resnet34.yaml"));
    request.batches = 6;
    const std::vector<BatchRouting> all = provide_routes(request).batches;
    request.batches = 2;
    request.first_batch = 4;
    const std::vector<BatchRouting> late = provide_routes(request).batches;
    REQUIRE(late.size() == 2);
    CHECK(late[0].masks == all[4].masks);
    CHECK(late[1].masks == all[5].masks);

    request = declared_routes(read_model("configs/workloads/digits_early_exit.yaml"));
    const std::vector<BatchRouting> recorded = provide_routes(request).batches;
    request.first_batch = 40;
    const Routes rest = provide_routes(request);
    CHECK(rest.source.kind == "trace");
    REQUIRE(rest.batches.size() == recorded.size() - 40);
    CHECK(rest.batches.front().masks == recorded[40].masks);
    request.batches = recorded.size();
    CHECK_THROWS_WITH(provide_routes(request),
                      Catch::Matchers::ContainsSubstring("batches: expected 240 batches or more, found 200"));
}

TEST_CASE("a distribution written as YAML is read back", "[routing]") {
    const Model model = read_model("configs/workloads/skipnet_resnet101.yaml");
    const auto switches = model.graph.signatures();
    const std::string text = to_yaml(*model.routing.distribution, switches);
    const RouteDistribution back = parse_distribution(text, switches, "image");
    CHECK(to_yaml(back, switches) == text);
    CHECK(RouteGenerator(back, switches, 128).batch(2).masks == declared_routing(model, 3)[2].masks);

    RouteDistribution alike = back;
    alike.batch_correlation = 0.375;
    CHECK(parse_distribution(to_yaml(alike, switches), switches, "image").batch_correlation == 0.375);
}

TEST_CASE("a wrong routing section is named by file, line and key", "[routing]") {
    const auto refused = [](const std::string& routing) {
        return refusal_of(with_switch("  - {name: out, kind: merge, from: [s.0, s.1]}\n") + "routing:\n" + routing);
    };
    CHECK(refused("  probability: [0.5, 0.5]\n").empty());
    CHECK(refused("  probability: [0.5, 0.4]\n") ==
          "model.yaml:11: routing.probability: expected a sum of 1, found 0.9");
    CHECK(refused("  probability: [0.5, 0.25, 0.25]\n") ==
          "model.yaml:11: routing.probability: expected 2 probabilities, one a branch of switch \"s\", found 3");
    CHECK(refused("  probability: [50%, 50%]\n") ==
          "model.yaml:11: routing.probability: expected a plain number, found \"50%\"");
    CHECK(refused("  probability: [-0.5, 1.5]\n") == "model.yaml:11: routing.probability: expected 0 to 1, found -0.5");
    CHECK(refused("  seed: 1\n") == "model.yaml:11: routing.probability: expected a value, found nothing");
    CHECK(refused("  switches: {s: [1, 0], t: [1, 0]}\n") ==
          "model.yaml:11: routing.switches.t: expected a switch of the model, found \"t\"");
    CHECK(refused("  probability: [1, 0]\n  drift: {amplitude: 0.1}\n") ==
          "model.yaml:12: routing.drift.period_batches: expected a value, found nothing");
    CHECK(refused("  probability: [1, 0]\n  drift: {amplitude: 0.3, period_batches: 4}\n") ==
          "model.yaml:12: routing.drift.amplitude: expected 0 to 0.24, found 0.3");
    CHECK(refused("  probability: [1, 0]\n  batch: {correlation: 2}\n") ==
          "model.yaml:12: routing.batch.correlation: expected 0 to 1, found 2");
    CHECK(refused("  trace: a.jsonl\n  seed: 3\n") == "model.yaml:12: routing.seed: expected one of trace, found seed");
    CHECK_THROWS_WITH(
        declared_routing(read_model("testbenches/data/static_chain.yaml"), 1),
        "testbenches/data/static_chain.yaml: routing: expected a trace or a distribution, found neither; give a "
        "trace, or declare one of them in the model");
}

TEST_CASE("Batches in flight are joined one behind another") {
    const BatchRouting one{2, {{1, 2}, {1, 1}}}, two{2, {{2, 2}, {1, 3}}};
    const std::vector<BatchRouting> joined = joined_batches({one, two, two, one}, 2, "routes");
    REQUIRE(joined.size() == 2);
    CHECK(joined[0].samples == 4);
    CHECK(joined[0].masks == std::vector<std::vector<std::uint64_t>>{{1, 2, 2, 2}, {1, 1, 1, 3}});
    CHECK(joined[1].masks == std::vector<std::vector<std::uint64_t>>{{2, 2, 1, 2}, {1, 3, 1, 1}});
    CHECK(joined_batches({one, two}, 1, "routes").size() == 2);
    CHECK_THROWS_WITH(joined_batches({one, two, one}, 2, "routes"),
                      Catch::Matchers::ContainsSubstring("expected a multiple of 2, the batches in flight, found 3"));
}
