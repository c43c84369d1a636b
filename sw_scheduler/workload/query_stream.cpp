// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/query_stream.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/csv.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/random_source.h"

namespace switchyard::sched {

namespace {

std::vector<Query> read_query_trace(const std::string& path) {
    constexpr double kMaxUs = 1e12;
    CsvReader rows(path, {"arrival_us", "accuracy", "latency_us"}, CsvReader::Header::none);
    std::vector<Query> queries;
    while (rows.next()) {
        const Query query{rows.number(0, 0, kMaxUs), rows.number(1, -kMaxUs, kMaxUs), rows.number(2, 0, kMaxUs)};
        if (!queries.empty() && query.arrival_us < queries.back().arrival_us)
            rows.fail(0,
                      fmt::format("expected {} or more, the arrival before it, found {}; sort the queries by arrival",
                                  queries.back().arrival_us, query.arrival_us));
        queries.push_back(query);
    }
    if (queries.empty()) throw InputError(path, 0, "", "expected one query or more, found none");
    return queries;
}

}  // namespace

std::vector<Query> make_query_stream(const QueryStreamConfig& config, const QueryRange& range) {
    if (config.kind == "trace") {
        std::vector<Query> queries = read_query_trace(config.trace);
        if (queries.size() > config.count) queries.resize(config.count);
        return queries;
    }
    // Streams of their own, so that other arrivals leave the constraints as they are.
    RandomSource constraints(config.seed, 0), arrivals(config.seed, 1);
    std::vector<Query> queries;
    queries.reserve(config.count);
    double now = 0, accuracy_at = 0, latency_at = 0;
    for (std::uint64_t i = 0; i < config.count; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(std::max<std::uint64_t>(1, config.count - 1));
        if (config.kind == "adversarial") {
            accuracy_at = latency_at = i % 2 == 0 ? 0 : 1;
        } else if (config.kind == "drifting") {
            const double low = std::max(0.0, share - config.drift_spread),
                         high = std::min(1.0, share + config.drift_spread);
            accuracy_at = constraints.uniform(low, high);
            latency_at = constraints.uniform(low, high);
        } else if (config.kind == "uniform" || i == 0 || constraints.chance(1 / config.burst_queries)) {
            accuracy_at = constraints.uniform();
            latency_at = constraints.uniform();
        }
        if (config.load > 0) now -= std::log(arrivals.uniform()) * range.service_us / config.load;
        queries.push_back({now, range.min_accuracy + accuracy_at * (range.max_accuracy - range.min_accuracy),
                           range.min_latency_us + latency_at * (range.max_latency_us - range.min_latency_us)});
    }
    return queries;
}

}  // namespace switchyard::sched
