// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::sched {

/// Which branches the samples that reach one switch take.
struct SwitchRoutes {
    std::vector<double> probability;  ///< of each branch; empty with patience
    /// Of a switch that chooses any: a sample takes the sum of the probabilities in branches, rounded down or up.
    bool fixed_count = false;
    /// Early exit by patience (PABEE, Zhou et al., NeurIPS 2020), if not 0: branch 1 leaves as soon as the label has
    /// stayed the same for N classifiers, branch 0 goes on. Switches in a chain of branches 0 count on.
    unsigned patience = 0;
    double agreement = 1;  ///< probability that a classifier's label is that of the one before
    /// Samples of a batch that a branch takes, in the order of the samples; 0: all. One that finds its branch full
    /// draws again among those with room (`next_best`), or does without.
    std::uint32_t capacity = 0;
    bool next_best = false;
    RoutedBy by = RoutedBy::gate;  ///< hash, task: without `probability` in the file; here all branches alike
    std::uint32_t hash_seed = 1;
};

/// Declared distribution of routes. Each sample has a latent difficulty, standard normal; difficulties of the samples
/// of one input correlate by `input_correlation`, and all of a batch by `batch_correlation` besides, as when images of
/// one kind come together. The latent of a switch is sqrt(correlation) * difficulty +
/// sqrt(1 - correlation) * noise, so any two switches' latents correlate by `correlation`; q is its quantile.
/// - Choose one: the first branch whose cumulative probability is above q, so a difficult sample takes a later branch.
/// - Choose any: one latent a branch, which is taken if q is above 1 - probability; if none is, the closest.
/// - Choose any, fixed count: q moves probability from early to late branches, then N are drawn
///   (fixed_size_sample()).
/// - Patience: the label changes if q is above `agreement`, so a difficult sample leaves later.
/// - By hash: the branch is a hash of the sample's number, which is drawn from `numbers`, or that in the run.
/// - By task: the branch is the task of the sample's input, which is drawn from `tasks`; the same at all switches.
/// Batch t moves each cumulative probability (or probability, or agreement) c to c + 4 * amplitude * c * (1 - c) *
/// sin(2 pi t / period): the mean over whole periods is the declared one.
struct RouteDistribution {
    std::uint64_t seed = 1;
    double correlation = 0;           ///< 0 to 1
    std::uint32_t input_samples = 1;  ///< consecutive samples that come from one input
    double input_correlation = 0;     ///< 0 to 1
    double batch_correlation = 0;     ///< 0 to 1; of the samples of one batch, whatever their input
    double drift_amplitude = 0;       ///< of a probability of one half, 0 to 0.24
    std::uint32_t drift_period_batches = 1;
    std::vector<double> numbers;  ///< probability of each number of a sample; empty: that of the sample in the run
    double number_zipf = 0;       ///< exponent of `numbers`
    std::vector<double> tasks;    ///< probability of each task; empty: no switch chooses by task
    std::vector<SwitchRoutes> switches;  ///< by switch id
};

/// `routing` of a model file: a recorded trace, a distribution, or nothing.
struct RoutingDeclaration {
    std::string trace;  ///< path, resolved against the folder of the file that names it; empty if there is none
    std::optional<RouteDistribution> distribution;
};

/// That such a section may have.
std::vector<std::string> routing_keys();
/// Reads the section `routing` of a model with `samples_per_input`. Throws InputError.
RoutingDeclaration read_routing(MappingReader routing, const std::vector<SwitchSignature>& switches,
                                std::uint32_t samples_per_input);
/// Reads a file that holds such a section and nothing else.
RoutingDeclaration read_routing_file(const std::string& path, const std::vector<SwitchSignature>& switches,
                                     std::uint32_t samples_per_input);

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
    std::vector<double> cumulative_numbers_;
    bool draws_numbers_ = false;  ///< some switch chooses by them
};

}  // namespace switchyard::sched
