// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard {

/// What decides on the branch of a sample: what its gate computes, or the number of the sample or of its task.
enum class RoutedBy : std::uint8_t { gate, hash, task };

/// What a network's switches look like from outside; a trace is checked against it.
struct SwitchSignature {
    std::string name;
    std::uint32_t branches = 2;  ///< 1 to 64
    int parent = -1;             ///< index of the switch in one of whose branches this one stands, or -1
    std::uint32_t parent_branch = 0;
    bool exclusive = false;
    RoutedBy by = RoutedBy::gate;
    std::uint32_t hash_seed = 1;  ///< RoutedBy::hash
};

/// Routing of one batch: masks[switch][sample id], 0 where the sample does not reach the switch.
struct BatchRouting {
    std::uint32_t samples = 0;
    std::vector<std::vector<std::uint64_t>> masks;
};

/// Reads docs/trace_format.md (JSON Lines, one line a batch and switch). Every line is checked: unknown switch, wrong
/// branch count, mask bits beyond the branches, no or several branches at an exclusive switch, samples other than those
/// that the parent's mask sends here, a batch that lacks a switch, or has other than `batch_samples` samples.
/// Throws InputError "file:line: key: ...".
/// Reads at most `max_batches` batches (0: all). At least one batch or InputError.
std::vector<BatchRouting> read_trace(const std::string& path, const std::vector<SwitchSignature>& switches,
                                     std::uint32_t batch_samples, std::size_t max_batches = 0);

/// Each `count` batches one behind another, as if they were one: the ids of the second begin behind those of the first.
/// Throws InputError if some are left over; `source` names the batches in the message.
std::vector<BatchRouting> joined_batches(const std::vector<BatchRouting>& batches, std::uint32_t count,
                                         const std::string& source);

/// Writes the same format.
void write_trace(const std::string& path, const std::vector<SwitchSignature>& switches,
                 const std::vector<BatchRouting>& batches);

}  // namespace switchyard
