// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/chip/platform_config.h"
#include "switchyard/sw_scheduler/workload/trace.h"
#include "switchyard/testbenches/property/random_network.h"
#include "switchyard/testbenches/property/random_platform.h"

namespace switchyard::testing {

/// A network and a chip that it fits, and how it is compiled and run: everything that the figures of both models depend
/// on. The same seed makes the same pair.
struct Pair {
    std::uint64_t seed = 0;
    PairSize size = PairSize::small;
    unsigned attempt = 0;  ///< draws that were no pair: the scheduler refused them
    RandomNetwork network;
    PlatformSettings platform;
    std::string design = "adyna";
    std::vector<std::string> without;
    unsigned unit_samples = 0;
    std::string invocation = "micro_batch", sample_routing = "sorted_reload";
    std::string sampling;  ///< of kernels; empty: as the scheduler chooses
    unsigned batches_in_flight = 1;
    std::size_t batches = 1;  ///< a multiple of those in flight
};

/// Design, mechanisms, micro-batches, invocation, sample routing and batches of a pair.
void draw_compilation(RandomSource& random, Pair& pair);

/// A pair that can be run: the image is the same for both models.
struct Compiled {
    Pair pair;
    platform::PlatformConfig platform;
    std::vector<std::uint8_t> bytes;
    std::vector<BatchRouting> routing;
};

/// Throws InputError if reader or scheduler refuse the network or the chip.
Compiled compile(const Pair& pair);

/// Runs it in this process, which must have no SystemC object yet. Returns a value of `tiles` in run_pair(), as text.
std::string run_model(const Compiled& compiled, const std::string& impl);

/// What became of a pair, as JSON (summary.h reads it):
/// - `seed`, `attempt`, `design`, `without`, `unit_samples`, `invocation`, `sample_routing`, `batches_in_flight`,
/// `batches`, `platform` (settings);
/// - `tiles`, `stages`: `latency_us` of each batch, `run_us`, `failed` (conservation checks by name, with both
/// figures),
///   or `error`; of stages, `validation` as in a report: within which bounds the model is validated;
/// - `difference`: mean latency of a batch on `stages` over that on `tiles`, less 1; missing if either has an error.
/// Runs each model in a process of its own, so no SystemC object may exist here.
nlohmann::ordered_json run_pair(std::uint64_t seed, PairSize size);

/// Runs the pairs of `count` seeds from `first` on, `jobs` at a time; visits each as it ends.
std::vector<nlohmann::ordered_json> run_pairs(std::uint64_t first, std::size_t count, PairSize size, unsigned jobs);

/// Writes network.yaml, platform.yaml and the commands that run the pair (commands.sh) to `folder`.
void write_pair(std::uint64_t seed, PairSize size, const std::string& folder);
/// The same of any pair, with a command for each of these models of the chip.
void write_pair(const Pair& pair, const std::vector<std::string>& impls, const std::string& folder);

}  // namespace switchyard::testing
