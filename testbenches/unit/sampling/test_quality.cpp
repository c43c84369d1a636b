// SPDX-License-Identifier: Apache-2.0
// How close sampled kernels come to the best ones, over 1,000 random distributions: 100 of each kind of
// random_distributions.cpp. Losses are counted in shares of the largest dyn_dim, so that small ones weigh as much as
// large ones, and averaged over the distributions.

#include <map>

#include <fmt/format.h>

#include "random_distributions.h"
#include "switchyard/sw_scheduler/adyna/sampling/optimal_dyn_dims.h"
#include "switchyard/sw_scheduler/adyna/sampling/refinement.h"
#include "switchyard/sw_scheduler/adyna/sampling/resampling.h"
#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {
namespace {

struct Losses {
    double mean = 0;  ///< of the dyn_dims themselves
    double uniform = 0, by_kernel = 0, refined = 0, optimal = 0;

    Losses& operator+=(const Losses& o) {
        mean += o.mean;
        uniform += o.uniform;
        by_kernel += o.by_kernel;
        refined += o.refined;
        optimal += o.optimal;
        return *this;
    }
};

Losses losses_of(const SamplingCase& one) {
    const double largest = one.phi.largest();
    const auto loss = [&](const DynDims& values) { return expected_loss(one.phi, values) / largest; };
    const DynDims even = uniform_dyn_dims(one.phi.largest(), one.kernels);
    return {one.phi.mean() / largest, loss(even),
            loss(resample_best(selected_counts(one.phi, even), usual_iterations(even.size()))),
            loss(refine(even, one.phi)), loss(optimal_dyn_dims(one.phi, one.kernels))};
}

void check_quality(unsigned cases) {
    std::map<std::string, Losses> by_kind;
    Losses all;
    unsigned worse_by_kernel = 0;
    for (unsigned i = 0; i < cases; ++i) {
        const SamplingCase one = random_case(i);
        const Losses losses = losses_of(one);
        INFO("case " << i << ": " << one.kind << ", " << one.phi.largest() << ", " << one.kernels << " kernels");
        CHECK(losses.refined <= losses.uniform + 1e-12);
        CHECK(losses.optimal <= losses.refined + 1e-12);
        worse_by_kernel += losses.by_kernel > losses.uniform + 1e-12 ? 1 : 0;
        by_kind[one.kind] += losses;
        all += losses;
    }
    REQUIRE(by_kind.size() == distribution_kinds().size());
    std::string table = fmt::format("{:<30}  uniform  Algorithm 1   refined: loss / optimal loss\n", "");
    for (const auto& [kind, losses] : by_kind) {
        table += fmt::format("{:<30} {:8.3f} {:12.3f} {:9.4f}\n", kind, losses.uniform / losses.optimal,
                             losses.by_kernel / losses.optimal, losses.refined / losses.optimal);
    }
    INFO(table);
    // Where the dyn_dims were counted: within 5 % of the least loss, on average and for every kind.
    CHECK(all.refined <= 1.05 * all.optimal);
    for (const auto& [kind, losses] : by_kind) CHECK(losses.refined <= 1.05 * losses.optimal);
    // From the frequencies of 'uniform' kernels alone, once, Algorithm 1 cannot be that close: it only knows the
    // middles of ranges. It removes most of what the initial kernels lose, and of what is computed, dyn_dim and loss,
    // it is within 5 % too. What it does not know may be worse, rarely.
    CHECK(all.by_kernel - all.optimal <= 0.4 * (all.uniform - all.optimal));
    CHECK(all.mean + all.by_kernel <= 1.05 * (all.mean + all.optimal));
    CHECK(worse_by_kernel <= cases / 100);
    CHECK(all.uniform >= 1.5 * all.optimal);
}

TEST_CASE("Over 100 random distributions sampled kernels are close to the best ones", "[sampling]") {
    check_quality(100);
}

TEST_CASE("Over 1,000 random distributions sampled kernels are close to the best ones", "[.ci-long][sampling]") {
    check_quality(1000);
}

}  // namespace
}  // namespace switchyard::sched
