// SPDX-License-Identifier: Apache-2.0
// Routes with a process behind them: a fixed number of branches, early exit by patience, samples folded into inputs.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model_text.h"
#include "switchyard/sw_scheduler/workload/branch_sampling.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::sched;

namespace {

const std::uint32_t kSamples = 128;
const std::uint64_t kBatches = 200;

/// Five standard deviations of the rate of an event with this probability in `trials` independent trials, and what a
/// rate of 0 or 1 is rounded by.
double bound(double probability, double trials) {
    return 5 * std::sqrt(probability * (1 - probability) / trials) + 1e-9;
}

SwitchSignature any_of(const std::string& name, std::uint32_t branches) {
    return {name, branches, -1, 0, false};
}

SwitchRoutes fixed_count(std::vector<double> probability) {
    SwitchRoutes routes;
    routes.probability = std::move(probability);
    routes.fixed_count = true;
    return routes;
}

/// Exits after layers 1 to `exits`, each on branch 0 of the one before.
std::vector<SwitchSignature> exit_chain(int exits) {
    std::vector<SwitchSignature> chain;
    chain.reserve(static_cast<std::size_t>(exits));
    for (int i = 0; i < exits; ++i) chain.push_back({"exit" + std::to_string(i + 1), 2, i - 1, 0, true});
    return chain;
}

RouteDistribution with_patience(int exits, unsigned patience, double agreement) {
    RouteDistribution distribution;
    SwitchRoutes routes;
    routes.patience = patience;
    routes.agreement = agreement;
    distribution.switches.assign(static_cast<std::size_t>(exits), routes);
    return distribution;
}

/// Share of the samples that leave at each exit; last: of those that never do.
std::vector<double> exit_shares(const RouteGenerator& generator, std::size_t exits) {
    std::vector<double> shares(exits + 1, 0);
    for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
        const BatchRouting routing = generator.batch(batch);
        for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
            std::size_t at = 0;
            while (at < exits && routing.masks[at][sample] == 1) ++at;
            if (at < exits) {
                REQUIRE(routing.masks[at][sample] == 2);
                for (std::size_t later = at + 1; later < exits; ++later) REQUIRE(routing.masks[later][sample] == 0);
            }
            shares[at] += 1.0 / static_cast<double>(kBatches * kSamples);
        }
    }
    return shares;
}

}  // namespace

TEST_CASE("Zipf's shares and what they give a fixed number of branches", "[routing]") {
    const std::vector<double> shares = zipf_shares(4, 1);
    for (std::size_t i = 0; i < 4; ++i) CHECK(shares[i] == Approx(12.0 / 25 / static_cast<double>(i + 1)));
    for (const double share : zipf_shares(5, 0)) CHECK(share == Approx(0.2));

    // Two of 12, 6, 4, 3 (of 25): the first would be taken 0.96 times.
    const std::vector<double> two = inclusion_probabilities({12, 6, 4, 3}, 2);
    CHECK(two == std::vector<double>{24.0 / 25, 12.0 / 25, 8.0 / 25, 6.0 / 25});
    // Three: the first would be taken 1.44 times, then the second 12 / 13 times.
    const std::vector<double> three = inclusion_probabilities({12, 6, 4, 3}, 3);
    CHECK(three[0] == 1);
    CHECK(three[1] == Approx(12.0 / 13));
    CHECK(three[2] == Approx(8.0 / 13));
    CHECK(three[3] == Approx(6.0 / 13));
    // 2.9 of 10, 5, 1: the first is certain, then the second, and the rest goes to the third.
    const std::vector<double> nearly_all = inclusion_probabilities({10, 5, 1}, 2.9);
    CHECK(nearly_all[0] == 1);
    CHECK(nearly_all[1] == 1);
    CHECK(nearly_all[2] == Approx(0.9));
}

TEST_CASE("a tilt moves probability from early to late branches and keeps the sum", "[routing]") {
    // Room: 0.1, 0.5, 0.3, 0.1. Cut behind the second: 0.6 before, 0.4 behind it.
    const std::vector<double> full = tilted({0.9, 0.5, 0.3, 0.1}, 1);
    CHECK(full[0] == Approx(0.9 - 0.1 * 0.4 / 0.6));
    CHECK(full[1] == Approx(0.5 - 0.5 * 0.4 / 0.6));
    CHECK(full[2] == Approx(0.6));
    CHECK(full[3] == Approx(0.2));
    CHECK(tilted({0.9, 0.5, 0.3, 0.1}, -1)[2] == Approx(0).margin(1e-12));
    CHECK(tilted({1, 1, 0}, 0.5) == std::vector<double>{1, 1, 0});
    CHECK(tilted({0.5, 1}, 0.5) == std::vector<double>{0.5, 1});
}

TEST_CASE("a fixed number of branches has the declared probabilities", "[routing]") {
    const std::vector<std::vector<double>> declared = {
        {0.5, 0.5, 0.5, 0.5}, {1, 0.9, 0.7, 0.25, 0.1, 0.05, 0, 0}, inclusion_probabilities(zipf_shares(8, 2), 5.6)};
    for (const std::vector<double>& probability : declared) {
        for (const double correlation : {0.0, 0.8}) {
            RouteDistribution distribution;
            distribution.correlation = correlation;
            distribution.switches = {fixed_count(probability)};
            const auto branches = static_cast<std::uint32_t>(probability.size());
            const RouteGenerator generator(distribution, {any_of("s", branches)}, kSamples);
            const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
            const auto min = static_cast<unsigned>(sum + 1e-9);
            std::vector<double> taken(branches, 0);
            for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
                const BatchRouting routing = generator.batch(batch);
                for (const std::uint64_t mask : routing.masks[0]) {
                    unsigned count = 0;
                    for (std::uint32_t branch = 0; branch < branches; ++branch) {
                        count += mask >> branch & 1;
                        taken[branch] += static_cast<double>(mask >> branch & 1);
                    }
                    REQUIRE(count >= min);
                    REQUIRE(count <= (sum - min < 1e-9 ? min : min + 1));
                }
            }
            const double trials = static_cast<double>(kBatches * kSamples);
            for (std::uint32_t branch = 0; branch < branches; ++branch) {
                INFO("branch " << branch << " of " << branches << ", correlation " << correlation);
                CHECK(taken[branch] / trials == Approx(probability[branch]).margin(bound(probability[branch], trials)));
            }
        }
    }
}

TEST_CASE("with a fixed number of branches, difficult samples take later ones", "[routing]") {
    for (const double correlation : {0.0, 1.0}) {
        RouteDistribution distribution;
        distribution.correlation = correlation;
        distribution.switches.assign(2, fixed_count({0.5, 0.5, 0.5, 0.5}));
        const RouteGenerator generator(distribution, {any_of("s", 4), any_of("t", 4)}, kSamples);
        double both = 0;
        for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
            const auto masks = generator.batch(batch).masks;
            for (std::uint32_t i = 0; i < kSamples; ++i) both += static_cast<double>(masks[0][i] & masks[1][i] & 1);
        }
        // Given q the first branch has the probability 1 - q: the mean of its square, or the square of its mean.
        const double expected = correlation == 1 ? 1.0 / 3 : 1.0 / 4;
        const double trials = static_cast<double>(kBatches * kSamples);
        CHECK(both / trials == Approx(expected).margin(bound(expected, trials)));
    }
}

TEST_CASE("a fixed number of branches drifts and keeps its mean", "[routing]") {
    RouteDistribution distribution;
    distribution.drift_amplitude = 0.2;
    distribution.drift_period_batches = 4;
    distribution.switches = {fixed_count({0.75, 0.75, 0.25, 0.25})};
    const RouteGenerator generator(distribution, {any_of("s", 4)}, kSamples);
    double mean = 0;
    const double trials = static_cast<double>(kBatches * kSamples) / 4;
    for (std::uint64_t phase = 0; phase < 4; ++phase) {
        double taken = 0;
        for (std::uint64_t batch = phase; batch < kBatches; batch += 4) {
            const BatchRouting routing = generator.batch(batch);
            for (const std::uint64_t mask : routing.masks[0]) taken += static_cast<double>(mask >> 3 & 1);
        }
        const double sine[] = {0, 1, 0, -1};
        const double expected = 0.25 + 0.25 * 0.8 * sine[phase];  // all that can move is 0.25
        CHECK(taken / trials == Approx(expected).margin(bound(expected, trials)));
        mean += taken / trials / 4;
    }
    CHECK(mean == Approx(0.25).margin(bound(0.25, 4 * trials)));
}

TEST_CASE("patience: a sample leaves when its label has stayed the same N times", "[routing]") {
    const std::size_t exits = 7;
    const unsigned patience = 3;
    const double agreement = 0.7;
    const RouteGenerator generator(with_patience(exits, patience, agreement), exit_chain(exits), kSamples);
    const std::vector<double> shares = exit_shares(generator, exits);
    // Markov chain over the counter, classifier by classifier; the first has nothing to agree with.
    std::vector<double> counter(patience, 0);
    counter[0] = 1;
    double alive = 1;
    const double trials = static_cast<double>(kBatches * kSamples);
    CHECK(shares[0] == 0);
    for (std::size_t exit = 1; exit < exits; ++exit) {
        const double leaves = counter[patience - 1] * agreement;
        std::vector<double> next(patience, 0);
        next[0] = alive * (1 - agreement);
        for (unsigned count = 1; count < patience; ++count) next[count] = counter[count - 1] * agreement;
        counter = next;
        alive -= leaves;
        CHECK(shares[exit] == Approx(leaves).margin(bound(leaves, trials)));
        if (exit < patience) CHECK(leaves == 0);
    }
    CHECK(shares[exits] == Approx(alive).margin(bound(alive, trials)));
}

TEST_CASE("patience: a difficult sample's label changes more often", "[routing]") {
    for (const double correlation : {0.0, 0.6}) {
        RouteDistribution distribution = with_patience(3, 2, 0.5);
        distribution.correlation = correlation;
        const std::vector<double> shares = exit_shares(RouteGenerator(distribution, exit_chain(3), kSamples), 3);
        // Two labels in a row that agree: orthant probability of two normal variables (Sheppard, 1899).
        const double expected = 0.25 + std::asin(correlation) / (2 * M_PI);
        CHECK(shares[2] == Approx(expected).margin(bound(expected, static_cast<double>(kBatches * kSamples))));
    }
}

TEST_CASE("samples of one input are alike", "[routing]") {
    RouteDistribution distribution;
    distribution.correlation = 0.9;
    distribution.input_samples = 16;
    distribution.input_correlation = 0.8;
    distribution.switches.emplace_back().probability = {0.5, 0.5};
    const RouteGenerator generator(distribution, {{"s", 2, -1, 0, true}}, kSamples);
    double kept = 0, pairs = 0, strangers = 0, inputs = 0;
    for (std::uint64_t batch = 0; batch < 10 * kBatches; ++batch) {
        const std::vector<std::uint64_t> masks = generator.batch(batch).masks[0];
        for (std::size_t first = 0; first < kSamples; first += 16) {
            kept += static_cast<double>(std::count(&masks[first], &masks[first] + 16, 2)) / 16;
            pairs += masks[first] == 2 && masks[first + 15] == 2 ? 1 : 0;
            strangers += masks[first] == 2 && masks[(first + 16) % kSamples] == 2 ? 1 : 0;
            ++inputs;
        }
    }
    CHECK(kept / inputs == Approx(0.5).margin(bound(0.5, inputs)));
    const double alike = 0.25 + std::asin(0.9 * 0.8) / (2 * M_PI);
    CHECK(pairs / inputs == Approx(alike).margin(bound(alike, inputs)));
    CHECK(strangers / inputs == Approx(0.25).margin(bound(0.25, inputs / 2)));  // neighbours share an input
}

TEST_CASE("all kinds of routes are written and read back, and any batch can be had alone", "[routing]") {
    RouteDistribution distribution = with_patience(3, 2, 0.625);
    distribution.seed = 11;
    distribution.correlation = 0.25;
    distribution.input_samples = 4;
    distribution.input_correlation = 0.5;
    distribution.drift_amplitude = 0.125;
    distribution.drift_period_batches = 8;
    distribution.switches.push_back(fixed_count(inclusion_probabilities(zipf_shares(7, 1.5), 2.7)));
    distribution.switches.emplace_back().probability = {0.4, 0.3, 0.3};
    distribution.switches.emplace_back().probability = {0.4, 0.3};
    std::vector<SwitchSignature> switches = exit_chain(3);
    switches.push_back(any_of("keep", 7));
    switches.push_back({"one", 3, -1, 0, true});
    switches.push_back(any_of("any", 2));

    const std::string text = to_yaml(distribution, switches);
    const RouteDistribution back = parse_distribution(text, switches, "image");
    CHECK(to_yaml(back, switches) == text);
    const RouteGenerator first(distribution, switches, 32), second(back, switches, 32);
    const auto alone = second.batch(6).masks;
    for (std::uint64_t batch = 0; batch < 6; ++batch) CHECK(first.batch(batch).masks == second.batch(batch).masks);
    CHECK(first.batch(6).masks == alone);
    CHECK(first.batch(7).masks != alone);
}

TEST_CASE("what is declared of a switch must suit it", "[routing]") {
    const auto refused = [](const std::string& routing, const std::string& branches) {
        return refusal_of(with_switch("  - {name: out, kind: merge, mode: sum, from: [s.0, s.1]}\n", branches) +
                          "routing:\n" + routing);
    };
    const std::string one = "branches: 2", any = "branches: 2, choose: any";
    CHECK(refused("  zipf: 1\n", one).empty());
    CHECK(refused("  keep: 1\n  zipf: 1\n", any).empty());
    CHECK(refused("  keep: 1.5\n  probability: [0.75, 0.75]\n", any).empty());
    CHECK(refused("  patience: 4\n  agreement: 0.9\n", one).empty());
    CHECK(refused("  switches: {s: {keep: 1, zipf: 1}}\n", any).empty());
    CHECK(refused("  input: {correlation: 0.5}\n  zipf: 1\n", one).empty());

    CHECK(refused("  zipf: 1\n", any) ==
          "model.yaml:11: routing.zipf: expected keep with it at \"s\", which chooses any, found none");
    CHECK(refused("  keep: 1\n  zipf: 1\n", one) ==
          "model.yaml:11: routing.keep: expected a switch that chooses any, found \"s\"");
    CHECK(refused("  keep: 3\n  zipf: 1\n", any) == "model.yaml:11: routing.keep: expected 1 to 2, found 3");
    CHECK(refused("  keep: 1\n  probability: [0.75, 0.75]\n", any) ==
          "model.yaml:12: routing.probability: expected a sum of 1, as keep is, found 1.5");
    CHECK(refused("  zipf: 1\n  probability: [0.5, 0.5]\n", one) ==
          "model.yaml:11: routing.zipf: expected zipf or probability, found both; leave one out");
    CHECK(refused("  patience: 4\n", one) == "model.yaml:11: routing.agreement: expected a value, found nothing");
    CHECK(refused("  agreement: 0.5\n  zipf: 1\n", one) ==
          "model.yaml:11: routing.agreement: expected patience with it, found none");
    CHECK(refused("  patience: 4\n  agreement: 0.5\n  zipf: 1\n", one) ==
          "model.yaml:11: routing.patience: expected patience or zipf, found both; leave one out");
    CHECK(refused("  patience: 4\n  agreement: 0.5\n", any) ==
          "model.yaml:11: routing.patience: expected a switch that chooses one of two branches, go on or leave, found "
          "\"s\"");
    CHECK(refused("  switches: {s: {zipf: 1, kepe: 1}}\n", one) ==
          "model.yaml:11: routing.switches.s.kepe: expected one of agreement, by, capacity, drop, hash_seed, keep, "
          "patience, probability, zipf, found kepe; did you mean keep?");
}

TEST_CASE("a routing section in a file of its own", "[routing]") {
    const Model model = model_of(with_switch("  - {name: out, kind: merge, from: [s.0, s.1]}\n"));
    const auto switches = model.graph.signatures();
    const TextFile file("routing.yaml", "seed: 5\nprobability: [0.25, 0.75]\n");
    const RoutingDeclaration read = read_routing_file(file.path(), switches, 1);
    REQUIRE(read.distribution);
    CHECK(read.distribution->seed == 5);
    CHECK(read.distribution->switches[0].probability == std::vector<double>{0.25, 0.75});
    const TextFile trace("routing.yaml", "trace: recorded.jsonl\n");
    const std::string folder = trace.path().substr(0, trace.path().rfind('/') + 1);
    CHECK(read_routing_file(trace.path(), switches, 1).trace == folder + "recorded.jsonl");
    const TextFile bad("routing.yaml", "seed: 5\nprobabilities: [0.25, 0.75]\n");
    CHECK_THROWS_WITH(read_routing_file(bad.path(), switches, 1),
                      bad.path() +
                          ":2: probabilities: expected one of agreement, batch, capacity, correlation, drift, drop, "
                          "input, keep, numbers, patience, probability, seed, switches, tasks, trace, zipf, found "
                          "probabilities; did you mean probability?");
}
