// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::sched {

/// A query of an inference service: when it comes and what it asks for.
struct Query {
    double arrival_us = 0;
    double accuracy = 0;    ///< at least, in per cent
    double latency_us = 0;  ///< at most
};

/// How a stream of queries is drawn. Both constraints follow one position between 0 (the cheapest SubNet will do)
/// and 1.
struct QueryStreamConfig {
    std::string kind = "uniform";
    std::string trace;
    std::uint64_t count = 400;
    std::uint64_t seed = 1;
    double burst_queries = 16;   ///< mean length
    double drift_spread = 0.15;  ///< half of the width around the mean that drifts
    double load = 0;             ///< of Poisson arrivals; 0: a query comes when the one before is done

    /// The queries depend on the seed.
    bool draws() const { return kind != "trace" && (kind != "adversarial" || load > 0); }
};

template <class V>
void describe(V& v, QueryStreamConfig& c) {
    v.choice(
        "kind", c.kind, {"uniform", "bursty", "drifting", "adversarial", "trace"},
        "constraints: independent and uniform; one for a burst of queries; a mean that goes from the cheapest to the "
        "dearest SubNet; cheapest and dearest in turn; from a file");
    v.field("trace", c.trace, "of kind trace: a file with a line \"arrival_us,accuracy,latency_us\" a query");
    v.field("count", c.count, 1, 1e8, "queries, where the work does not say how many");
    v.field("seed", c.seed, 0, 1e18, "of the draws, where the work does not say which");
    v.field("burst_queries", c.burst_queries, 1, 1e6, "mean length of a burst (geometric)");
    v.field("drift_spread", c.drift_spread, 0, 1,
            "of kind drifting: half of the width around the mean, 1 is the whole range");
    v.field(
        "load", c.load, 0, 10,
        "arrivals are a Poisson process of this share of what the service could serve; 0: a query comes when the one "
        "before is done");
}

/// What positions 0 and 1 stand for, and the mean time of a service.
struct QueryRange {
    double min_accuracy = 0, max_accuracy = 100;
    double min_latency_us = 0, max_latency_us = 0;
    double service_us = 1;
};

/// Deterministic: the same arguments, the same queries. Throws InputError for a trace that cannot be read (file and
/// line).
std::vector<Query> make_query_stream(const QueryStreamConfig& config, const QueryRange& range);

}  // namespace switchyard::sched
