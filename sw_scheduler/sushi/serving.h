// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/sushi/latency_table.h"
#include "switchyard/sw_scheduler/workload/query_stream.h"

namespace switchyard::sched::sushi {

/// Which constraint of a query holds; the other one is not looked at (section 3.3). `accuracy_alone`: that of accuracy,
/// by a scheduler that knows no latencies.
enum class Constraint { accuracy, latency, accuracy_alone };

struct Choice {
    std::size_t subnet = 0;
    bool met = true;  ///< the constraint; if no SubNet meets it, the one that comes closest is served
};

/// Per-query selection of Algorithm 1, with the latencies `us` of the SubNets. Accuracy: of the SubNets that are
/// accurate enough the fastest. Least accuracy: of these the least accurate. Latency: of those that are fast enough the
/// most accurate, the faster of two alike.
Choice choose_subnet(const LatencyTable& table, const std::vector<double>& us, const Query& query,
                     Constraint constraint);

/// The latencies of all SubNets with a SubGraph.
std::vector<double> column(const LatencyTable& table, std::size_t subgraph);

/// Which SubGraph to keep for the queries to come. One object a stream.
class CachePolicy {
public:
    virtual ~CachePolicy() = default;
    /// After the query number `query` (from 0 on), which `subnet` served. What to keep from now on.
    virtual std::size_t after(std::size_t query, std::size_t subnet, std::size_t present) = 0;
};

struct CachePolicySetup {
    const Supernet* supernet = nullptr;
    const LatencyTable* table = nullptr;
    const std::vector<Query>* queries = nullptr;  ///< of `oracle`, which knows what comes
    Constraint constraint = Constraint::accuracy;
    std::size_t period = 4;  ///< Q: queries between two choices, and averaged over
};

/// - `fixed`: whatever is there stays.
/// - `nearest`: SushiSched. Every Q queries the SubGraph nearest to the average of the last Q SubNets' encodings.
/// - `lru`: every Q queries the SubGraph that has most of the bytes of the SubNet served last, so that those used least
///   recently go.
/// - `saved_bytes`: every Q queries the SubGraph that would have saved most bytes of the last Q SubNets.
/// - `oracle`: every Q queries the SubGraph with which the next Q take least time, its filling included (constraint
/// latency:
///   with which they are most accurate, then fastest).
/// Throws std::invalid_argument for another name.
std::unique_ptr<CachePolicy> make_cache_policy(const std::string& name, const CachePolicySetup& setup);

/// The SubGraph to begin with: with which the SubNets take least time in all, or SubNet number `only` - 1 if it is not
/// 0.
std::size_t first_subgraph(const LatencyTable& table, std::size_t only = 0);

}  // namespace switchyard::sched::sushi
