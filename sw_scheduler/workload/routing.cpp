// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/workload/routing.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/not_both.h"
#include "switchyard/sw_scheduler/workload/branch_sampling.h"
#include "switchyard/sw_scheduler/workload/route_messages.h"

namespace switchyard::sched {

namespace {

constexpr double kRounding = 1e-6;  ///< of sums of probabilities that people write down
constexpr double kSteepestZipf = 32;

double sum_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> read_probability(MappingReader& reader, const std::string& key, const SwitchSignature& target) {
    std::vector<double> result = reader.numbers(key, 0, 1);
    if (result.size() != target.branches)
        reader.fail(key, fmt::format("expected {} probabilities, one a branch of switch \"{}\", found {}",
                                     target.branches, target.name, result.size()));
    const double sum = sum_of(result);
    if (target.exclusive && std::abs(sum - 1) > kRounding)
        reader.fail(key, fmt::format("expected a sum of 1, found {:g}", sum));
    if (sum == 0) reader.fail(key, "expected a probability above 0, found none");
    return result;
}

SwitchRoutes read_patience(MappingReader& reader, const SwitchSignature& target) {
    if (!target.exclusive || target.branches != 2)
        reader.fail("patience",
                    fmt::format("expected a switch that chooses one of two branches, go on or leave, found \"{}\"",
                                target.name));
    SwitchRoutes routes;
    routes.patience = static_cast<unsigned>(reader.integer("patience", 1, 1000));
    reader.text("agreement");
    routes.agreement = reader.number_or("agreement", 0, 1, 1);
    return routes;
}

/// The keys that say which branches samples take; they stand in `routing` itself, for all switches that are not listed,
/// or below the name of one.
SwitchRoutes read_routes(MappingReader& reader, const SwitchSignature& target) {
    const bool zipf = reader.has("zipf"), keep = reader.has("keep");
    const bool listed = reader.has("probability"), patience = reader.has("patience");
    reader.has("agreement");
    if (patience && (zipf || listed || keep))
        reader.fail("patience", not_both("patience", zipf ? "zipf" : listed ? "probability" : "keep"));
    if (zipf && listed) reader.fail("zipf", not_both("zipf", "probability"));
    if (patience) return read_patience(reader, target);
    if (reader.has("agreement")) reader.fail("agreement", "expected patience with it, found none");

    SwitchRoutes routes;
    double count = 1;
    if (keep) {
        if (target.exclusive)
            reader.fail("keep", fmt::format("expected a switch that chooses any, found \"{}\"", target.name));
        count = reader.number_or("keep", 1, target.branches, 1);
        routes.fixed_count = true;
    } else if (zipf && !target.exclusive) {
        reader.fail("zipf", fmt::format("expected keep with it at \"{}\", which chooses any, found none", target.name));
    }
    if (zipf) {
        const double exponent = reader.number_or("zipf", 0, kSteepestZipf, 0);
        routes.probability = inclusion_probabilities(zipf_shares(target.branches, exponent), count);
    } else {
        routes.probability = read_probability(reader, "probability", target);
        const double sum = sum_of(routes.probability);
        if (keep && std::abs(sum - count) > kRounding)
            reader.fail("probability", fmt::format("expected a sum of {:g}, as keep is, found {:g}", count, sum));
    }
    return routes;
}

std::string needs_numbers(const SwitchSignature& target, const std::string& found) {
    return fmt::format("expected `numbers` or `tasks` for \"{}\", which chooses by number, found {}", target.name,
                       found);
}

/// Of a switch that chooses by number; `own`: the keys stand below its name.
SwitchRoutes read_numbered_routes(MappingReader& reader, const SwitchSignature& target, bool own) {
    SwitchRoutes routes;
    routes.by = target.by;
    routes.hash_seed = target.hash_seed;
    if (own) {
        for (const char* key : {"probability", "zipf", "keep", "patience", "agreement"})
            if (reader.has(key)) reader.fail(key, needs_numbers(target, key));
        if (reader.has("by")) {
            routes.by = reader.choice_or("by", {"hash", "task"}) == "hash" ? RoutedBy::hash : RoutedBy::task;
            if (target.by != RoutedBy::gate && target.by != routes.by)
                reader.fail("by", fmt::format("expected {1}, as the router of \"{0}\" says, found {2}", target.name,
                                              target.by == RoutedBy::hash ? "hash" : "task", reader.text("by")));
        }
        if (reader.has("hash_seed"))
            routes.hash_seed = static_cast<std::uint32_t>(reader.integer("hash_seed", 0, UINT32_MAX));
    }
    routes.probability.assign(target.branches, 1.0 / target.branches);
    return routes;
}

const std::vector<std::string> kRouteKeys = {"probability", "zipf",     "keep", "patience",
                                             "agreement",   "capacity", "drop"};

/// With the keys of a capacity. `own`: the keys stand below the name of the switch.
SwitchRoutes read_limited_routes(MappingReader& reader, const SwitchSignature& target, bool own) {
    const bool numbered = target.by != RoutedBy::gate || (own && reader.has("by"));
    SwitchRoutes routes = numbered ? read_numbered_routes(reader, target, own) : read_routes(reader, target);
    const bool drop = reader.has("drop");
    if (!reader.has("capacity")) {
        if (drop) reader.fail("drop", "expected capacity with it, found none");
        return routes;
    }
    if (routes.patience > 0) reader.fail("capacity", not_both("capacity", "patience"));
    routes.capacity = static_cast<std::uint32_t>(reader.integer("capacity", 1, 1u << 30));
    routes.next_best = reader.choice_or("drop", {"drop", "next_best"}) == "next_best";
    if (!routes.next_best && target.exclusive)
        reader.fail("capacity",
                    fmt::format("expected a switch that chooses any, as a capacity drops samples, found \"{}\", "
                                "which chooses one; set choose: any, or drop: next_best",
                                target.name));
    return routes;
}

/// `numbers: {count, zipf}`: which number a sample has.
void read_numbers(MappingReader& routing, RouteDistribution& result) {
    if (!routing.has("numbers")) return;
    constexpr std::uint64_t kNumbers = 1u << 16;  // the host writes them in two bytes
    MappingReader numbers = routing.mapping("numbers");
    numbers.allow({"count", "zipf"});
    const auto count = static_cast<unsigned>(numbers.integer("count", 1, kNumbers));
    result.number_zipf = numbers.number_or("zipf", 0, kSteepestZipf, 0);
    result.numbers = zipf_shares(count, result.number_zipf);
    numbers.finish();
}

/// `tasks: {probability | zipf}`: which task an input has; as many as branches.
void read_tasks(MappingReader& routing, const std::vector<SwitchSignature>& switches, RouteDistribution& result) {
    SwitchSignature all;
    for (std::size_t id = 0; id < switches.size(); ++id) {
        if (result.switches[id].by != RoutedBy::task) continue;
        if (!all.name.empty() && all.branches != switches[id].branches)
            routing.fail("tasks",
                         fmt::format("expected the same number of branches at switches that choose by task, found "
                                     "\"{}\" with {} and \"{}\" with {}",
                                     all.name, all.branches, switches[id].name, switches[id].branches));
        all = switches[id];
        all.exclusive = true;
    }
    const bool declared = routing.has("tasks");
    if (all.name.empty()) {
        if (declared) routing.fail("tasks", "expected a switch that chooses by task, found none");
        return;
    }
    result.tasks = zipf_shares(all.branches, 0);
    if (!declared) return;
    MappingReader tasks = routing.mapping("tasks");
    tasks.allow({"probability", "zipf"});
    if (tasks.has("probability"))
        result.tasks = read_probability(tasks, "probability", all);
    else
        result.tasks = zipf_shares(all.branches, tasks.number_or("zipf", 0, kSteepestZipf, 0));
    tasks.finish();
}

RouteDistribution read_distribution(MappingReader& routing, const std::vector<SwitchSignature>& switches,
                                    std::uint32_t samples_per_input) {
    RouteDistribution result;
    result.seed = routing.integer_or("seed", 0, UINT64_MAX, 1);
    result.correlation = routing.number_or("correlation", 0, 1, 0);
    result.input_samples = samples_per_input;
    if (routing.has("input")) {
        MappingReader input = routing.mapping("input");
        input.allow({"samples", "correlation"});
        result.input_samples = static_cast<std::uint32_t>(input.integer_or("samples", 1, 1u << 20, samples_per_input));
        result.input_correlation = input.number_or("correlation", 0, 1, 0);
        input.finish();
    }
    if (routing.has("batch")) {
        MappingReader batch = routing.mapping("batch");
        batch.allow({"correlation"});
        result.batch_correlation = batch.number_or("correlation", 0, 1, 0);
        batch.finish();
    }
    if (routing.has("drift")) {
        MappingReader drift = routing.mapping("drift");
        drift.allow({"amplitude", "period_batches"});
        // Below 1/4 the moved cumulative probabilities keep their order.
        result.drift_amplitude = drift.number_or("amplitude", 0, 0.24, 0);
        result.drift_period_batches = static_cast<std::uint32_t>(drift.integer("period_batches", 1, 1u << 30));
        drift.finish();
    }
    // Known even if every switch is listed.
    for (const std::string& key : kRouteKeys) routing.has(key);
    std::optional<MappingReader> listed;
    if (routing.has("switches")) listed = routing.mapping("switches");
    for (const SwitchSignature& target : switches) {
        if (!listed || !listed->has(target.name)) {
            result.switches.push_back(read_limited_routes(routing, target, false));
        } else if (listed->node(target.name).IsMap()) {
            MappingReader own = listed->mapping(target.name);
            std::vector<std::string> keys = kRouteKeys;
            keys.insert(keys.end(), {"by", "hash_seed"});
            own.allow(keys);
            result.switches.push_back(read_limited_routes(own, target, true));
            own.finish();
        } else {
            if (target.by != RoutedBy::gate) listed->fail(target.name, needs_numbers(target, "probabilities"));
            result.switches.emplace_back().probability = read_probability(*listed, target.name, target);
        }
    }
    if (listed) {
        for (const auto& entry : listed->nodes()) {
            const std::string& name = entry.first;
            const auto named = [&name](const SwitchSignature& target) { return target.name == name; };
            if (std::none_of(switches.begin(), switches.end(), named)) listed->fail(name, no_switch(name, switches));
        }
    }
    read_numbers(routing, result);
    read_tasks(routing, switches, result);
    return result;
}

}  // namespace

std::vector<std::string> routing_keys() {
    std::vector<std::string> keys = {"trace", "seed",    "correlation", "input",   "batch",
                                     "drift", "numbers", "tasks",       "switches"};
    keys.insert(keys.end(), kRouteKeys.begin(), kRouteKeys.end());
    return keys;
}

RoutingDeclaration read_routing(MappingReader routing, const std::vector<SwitchSignature>& switches,
                                std::uint32_t samples_per_input) {
    RoutingDeclaration result;
    routing.allow(routing_keys());
    if (routing.has("trace")) {
        const std::filesystem::path trace = routing.text("trace");
        result.trace = (std::filesystem::path(routing.file()).parent_path() / trace).string();
    } else {
        result.distribution = read_distribution(routing, switches, samples_per_input);
    }
    routing.finish();
    return result;
}

RoutingDeclaration read_routing_file(const std::string& path, const std::vector<SwitchSignature>& switches,
                                     std::uint32_t samples_per_input) {
    return read_routing(MappingReader(load_yaml(path), path, ""), switches, samples_per_input);
}

namespace {

/// The distributions of numbers and tasks, each a line.
std::string numbers_text(const RouteDistribution& distribution) {
    std::string text;
    if (!distribution.numbers.empty())
        text +=
            fmt::format("numbers: {{count: {}, zipf: {}}}\n", distribution.numbers.size(), distribution.number_zipf);
    if (!distribution.tasks.empty())
        text += fmt::format("tasks: {{probability: [{}]}}\n", fmt::join(distribution.tasks, ", "));
    return text;
}

}  // namespace

std::string to_yaml(const RouteDistribution& distribution, const std::vector<SwitchSignature>& switches) {
    const std::string batch = distribution.batch_correlation > 0
                                  ? fmt::format("batch: {{correlation: {}}}\n", distribution.batch_correlation)
                                  : "";
    std::string text = fmt::format(
        "seed: {}\ncorrelation: {}\ninput: {{samples: {}, correlation: {}}}\n{}"
        "drift: {{amplitude: {}, period_batches: {}}}\n{}switches:\n",
        distribution.seed, distribution.correlation, distribution.input_samples, distribution.input_correlation, batch,
        distribution.drift_amplitude, distribution.drift_period_batches, numbers_text(distribution));
    for (std::size_t id = 0; id < switches.size(); ++id) {
        const SwitchRoutes& routes = distribution.switches[id];
        text += fmt::format("  {}: ", switches[id].name);
        if (routes.patience > 0) {
            text += fmt::format("{{patience: {}, agreement: {}}}\n", routes.patience, routes.agreement);
            continue;
        }
        if (routes.by != RoutedBy::gate) {
            text += routes.by == RoutedBy::hash ? fmt::format("{{by: hash, hash_seed: {}", routes.hash_seed)
                                                : std::string("{by: task");
            if (routes.capacity > 0)
                text +=
                    fmt::format(", capacity: {}, drop: {}", routes.capacity, routes.next_best ? "next_best" : "drop");
            text += "}\n";
            continue;
        }
        const std::string list = fmt::format("[{}]", fmt::join(routes.probability, ", "));
        if (!routes.fixed_count && routes.capacity == 0) {
            text += list + "\n";
            continue;
        }
        text += "{";
        if (routes.fixed_count) text += fmt::format("keep: {:.9g}, ", sum_of(routes.probability));
        if (routes.capacity > 0)
            text += fmt::format("capacity: {}, drop: {}, ", routes.capacity, routes.next_best ? "next_best" : "drop");
        text += fmt::format("probability: {}}}\n", list);
    }
    return text;
}

RouteDistribution parse_distribution(const std::string& yaml, const std::vector<SwitchSignature>& switches,
                                     const std::string& source) {
    const RoutingDeclaration declaration =
        read_routing(MappingReader(parse_yaml(yaml, source), source, "routing"), switches, 1);
    if (!declaration.distribution)
        throw InputError(source, 0, "routing", "expected a distribution, found the trace " + declaration.trace);
    return *declaration.distribution;
}

}  // namespace switchyard::sched
