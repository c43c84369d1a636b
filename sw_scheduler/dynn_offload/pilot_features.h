// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/text_lines.h"
#include "switchyard/sw_scheduler/dynn_offload/execution_blocks.h"
#include "switchyard/sw_scheduler/training_streams/training_network.h"

namespace switchyard::dynn_offload {

/// How operators are told to the pilot (Fig. 11).
enum class Representation : std::uint8_t {
    idiom,     ///< six idioms and three sizes an operator
    global_id  ///< one element for each operator type
};
const char* to_string(Representation representation);
/// Throws InputError.
Representation parse_representation(const std::string& name, const std::string& file, const std::string& key);

/// Rows of the architecture feature matrix that the pilot reads; those of a longer program are left out.
inline constexpr unsigned kProgramRows = 128;
/// Blocks of the pilot's output; what comes behind them is part of the last.
inline constexpr unsigned kOutputBlocks = 16;
/// Elements of a row, and of a block's vector (operators and control flows, then as a row).
unsigned row_elements(Representation representation);
inline unsigned vector_elements(Representation representation) {
    return 1 + row_elements(representation);
}

/// The architecture feature matrix (DyNN-Offload IV-A2): row_elements() a row of the static program in its order, only
/// zeros for a control flow. Values as counted, not scaled.
std::vector<std::vector<double>> feature_matrix(const sched::TrainingNetwork& network, Representation representation);

/// The vectors of the blocks of a path: at most kOutputBlocks.
std::vector<BlockVector> block_vectors(const sched::TrainingStream& stream, const ExecutionBlocks& blocks,
                                       Representation representation);

/// A path that has the same blocks needs the same tensors: numbers of operators and keys of the fetched tensors are
/// equal, block by block. A hash of these, never 0.
std::uint64_t blocks_signature(const sched::TrainingStream& stream, const ExecutionBlocks& blocks);

/// Everything that the pilot is trained with: of one network, the label of each path, and samples.
struct PilotTrace {
    std::string network;
    sched::BasicType basic_type = sched::BasicType::recurrent;
    Representation representation = Representation::idiom;
    std::uint64_t seed = 0;
    std::vector<std::vector<double>> matrix;
    /// Sums over the rows of the matrix, with the number of rows in front and at least that number: what a label's
    /// elements are counted in.
    std::vector<double> unit;
    std::vector<std::vector<BlockVector>> labels;  ///< of each path; empty for one that no sample takes
    std::vector<sched::TrainingSample> samples;
};

class BlockPlanner;
PilotTrace record_trace(const sched::TrainingNetwork& network, BlockPlanner& planner, Representation representation,
                        std::uint64_t seed, std::size_t samples);
std::vector<double> unit_of(const std::vector<std::vector<double>>& matrix, Representation representation);

/// JSON Lines: a header, a line for each path with a label, a line for each sample.
void write_trace(const PilotTrace& trace, const std::string& path);
/// Throws InputError "FILE:LINE: ...": another format or version, a line that is damaged or missing.
PilotTrace read_trace(const std::string& path);
PilotTrace read_trace(TextLines lines);

}  // namespace switchyard::dynn_offload
