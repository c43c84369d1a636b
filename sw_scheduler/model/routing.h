#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/formats/trace.h"
#include "switchyard/sw_scheduler/model/mapping_reader.h"

namespace switchyard::sched {

/// Declared distribution of routes. Each sample has a latent difficulty, standard normal; the latent of a switch is
/// sqrt(correlation) * difficulty + sqrt(1 - correlation) * noise, so any two switches' latents correlate by
/// `correlation`. A switch that chooses one branch compares the latent's quantile with the cumulative probabilities: a
/// difficult sample takes a later branch. A switch that chooses any has one latent a branch, which is taken if its
/// quantile is above 1 - probability; if none is, the branch that came closest is.
/// Batch t moves each cumulative probability (or probability) c to c + 4 * amplitude * c * (1 - c) * sin(2 pi t /
/// period): the mean over whole periods is the declared one.
struct RouteDistribution {
    std::uint64_t seed = 1;
    double correlation = 0;      ///< 0 to 1
    double drift_amplitude = 0;  ///< of a probability of one half, 0 to 0.24
    std::uint32_t drift_period_batches = 1;
    std::vector<std::vector<double>> probability;  ///< [switch id][branch], of the samples that reach the switch
};

/// `routing` of a model file: a recorded trace, a distribution, or nothing.
struct RoutingDeclaration {
    std::string trace;  ///< path, resolved against the model file's folder; empty if there is none
    std::optional<RouteDistribution> distribution;
};

/// Reads the section `routing`. Throws InputError.
RoutingDeclaration read_routing(MappingReader routing, const std::vector<SwitchSignature>& switches);

/// The distribution as the text of a `routing` section, every switch listed; for ImageMeta::routing_yaml.
std::string to_yaml(const RouteDistribution& distribution, const std::vector<SwitchSignature>& switches);
/// Inverse of to_yaml(); `source` is for messages. Throws InputError.
RouteDistribution parse_distribution(const std::string& yaml, const std::vector<SwitchSignature>& switches,
                                     const std::string& source);

/// Seeded route generator. Batch `index` depends on the seed and the index only, so any batch can be had alone.
class RouteGenerator {
public:
    RouteGenerator(RouteDistribution distribution, std::vector<SwitchSignature> switches, std::uint32_t batch_samples);
    BatchRouting batch(std::uint64_t index) const;

private:
    RouteDistribution distribution_;
    std::vector<SwitchSignature> switches_;
    std::uint32_t batch_samples_;
};

}  // namespace switchyard::sched
