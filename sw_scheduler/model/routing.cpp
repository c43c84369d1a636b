#include "switchyard/sw_scheduler/model/routing.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/formats/config.h"

namespace switchyard::sched {

namespace {

/// Normal numbers from the bits of std::mt19937_64, which the standard fixes; what std::normal_distribution makes of
/// them it does not.
class NormalSource {
public:
    NormalSource(std::uint64_t seed, std::uint64_t stream) {
        const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
        std::seed_seq words{low(seed), low(seed >> 32), low(stream), low(stream >> 32)};
        engine_.seed(words);
    }

    double next() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();  // Box and Muller
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

private:
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }

    std::mt19937_64 engine_;
    double spare_ = 0;
    bool has_spare_ = false;
};

double quantile_of(double normal) {
    return 0.5 * std::erfc(-normal * M_SQRT1_2);
}

double drifted(double probability, double shift) {
    return probability + 4 * shift * probability * (1 - probability);
}

std::uint64_t choose_one(double quantile, const std::vector<double>& probability, double shift) {
    double cumulative = 0;
    std::size_t last = 0;  // the last branch that can be taken, whatever the sum rounds to
    for (std::size_t branch = 0; branch < probability.size(); ++branch) {
        if (probability[branch] == 0) continue;
        cumulative += probability[branch];
        last = branch;
        if (quantile < drifted(std::min(cumulative, 1.0), shift)) break;
    }
    return std::uint64_t{1} << last;
}

std::vector<double> read_probability(MappingReader& reader, const std::string& key, const SwitchSignature& target) {
    std::vector<double> result = reader.numbers(key, 0, 1);
    if (result.size() != target.branches)
        reader.fail(key, fmt::format("has {} probabilities for the {} branches of switch \"{}\"", result.size(),
                                     target.branches, target.name));
    const double sum = std::accumulate(result.begin(), result.end(), 0.0);
    if (target.exclusive && std::abs(sum - 1) > 1e-6) reader.fail(key, fmt::format("adds up to {:g}, not to 1", sum));
    if (sum == 0) reader.fail(key, "leaves no branch");
    return result;
}

RouteDistribution read_distribution(MappingReader& routing, const std::vector<SwitchSignature>& switches) {
    RouteDistribution result;
    result.seed = routing.integer_or("seed", 0, UINT64_MAX, 1);
    result.correlation = routing.number_or("correlation", 0, 1, 0);
    if (routing.has("drift")) {
        MappingReader drift = routing.mapping("drift");
        // Below 1/4 the moved cumulative probabilities keep their order.
        result.drift_amplitude = drift.number_or("amplitude", 0, 0.24, 0);
        result.drift_period_batches = static_cast<std::uint32_t>(drift.integer("period_batches", 1, 1u << 30));
        drift.finish();
    }
    routing.has("probability");  // known even if every switch is listed
    std::optional<MappingReader> listed;
    if (routing.has("switches")) listed = routing.mapping("switches");
    for (const SwitchSignature& target : switches) {
        const bool own = listed && listed->has(target.name);
        result.probability.push_back(own ? read_probability(*listed, target.name, target)
                                         : read_probability(routing, "probability", target));
    }
    if (listed) {
        for (const auto& entry : listed->nodes()) {
            const std::string& name = entry.first;
            const auto named = [&name](const SwitchSignature& target) { return target.name == name; };
            if (std::none_of(switches.begin(), switches.end(), named))
                listed->fail(name, "the model has no such switch");
        }
    }
    return result;
}

}  // namespace

RoutingDeclaration read_routing(MappingReader routing, const std::vector<SwitchSignature>& switches) {
    RoutingDeclaration result;
    if (routing.has("trace")) {
        const std::filesystem::path trace = routing.text("trace");
        result.trace = (std::filesystem::path(routing.file()).parent_path() / trace).string();
    } else {
        result.distribution = read_distribution(routing, switches);
    }
    routing.finish();
    return result;
}

std::string to_yaml(const RouteDistribution& distribution, const std::vector<SwitchSignature>& switches) {
    std::string text = fmt::format(
        "seed: {}\ncorrelation: {}\ndrift: {{amplitude: {}, period_batches: {}}}\nswitches:\n", distribution.seed,
        distribution.correlation, distribution.drift_amplitude, distribution.drift_period_batches);
    for (std::size_t id = 0; id < switches.size(); ++id)
        text += fmt::format("  {}: [{}]\n", switches[id].name, fmt::join(distribution.probability[id], ", "));
    return text;
}

RouteDistribution parse_distribution(const std::string& yaml, const std::vector<SwitchSignature>& switches,
                                     const std::string& source) {
    YAML::Node node;
    try {
        node = YAML::Load(yaml);
    } catch (const YAML::ParserException& error) {
        throw InputError(source, error.mark.line + 1, "routing", "not YAML: " + error.msg);
    }
    const RoutingDeclaration declaration = read_routing(MappingReader(node, source, "routing"), switches);
    if (!declaration.distribution) throw InputError(source, 0, "routing", "declares no distribution");
    return *declaration.distribution;
}

RouteGenerator::RouteGenerator(RouteDistribution distribution, std::vector<SwitchSignature> switches,
                               std::uint32_t batch_samples)
    : distribution_(std::move(distribution)), switches_(std::move(switches)), batch_samples_(batch_samples) {}

BatchRouting RouteGenerator::batch(std::uint64_t index) const {
    NormalSource normal(distribution_.seed, index);
    const std::uint32_t period = distribution_.drift_period_batches;
    const double shift =
        distribution_.drift_amplitude * std::sin(2 * M_PI * static_cast<double>(index % period) / period);
    const double shared = std::sqrt(distribution_.correlation), own = std::sqrt(1 - distribution_.correlation);

    BatchRouting routing;
    routing.samples = batch_samples_;
    routing.masks.assign(switches_.size(), std::vector<std::uint64_t>(batch_samples_, 0));
    for (std::uint32_t sample = 0; sample < batch_samples_; ++sample) {
        const double difficulty = normal.next();
        const auto draw = [&] { return quantile_of(shared * difficulty + own * normal.next()); };
        for (std::size_t id = 0; id < switches_.size(); ++id) {
            const SwitchSignature& item = switches_[id];
            const std::vector<double>& probability = distribution_.probability[id];
            const bool reached =
                item.parent < 0 ||
                (routing.masks[static_cast<std::size_t>(item.parent)][sample] >> item.parent_branch & 1);
            if (!reached) continue;
            std::uint64_t& mask = routing.masks[id][sample];
            if (item.exclusive) {
                mask = choose_one(draw(), probability, shift);
                continue;
            }
            std::size_t closest = 0;
            double best = -2;
            for (std::size_t branch = 0; branch < item.branches; ++branch) {
                const double margin = draw() - (1 - drifted(probability[branch], shift));
                if (margin > 0) mask |= std::uint64_t{1} << branch;
                if (margin > best) {
                    best = margin;
                    closest = branch;
                }
            }
            if (mask == 0) mask = std::uint64_t{1} << closest;
        }
    }
    return routing;
}

}  // namespace switchyard::sched
