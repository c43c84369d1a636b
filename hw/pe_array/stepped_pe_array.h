// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "switchyard/hw/pe_array/array_core.h"
#include "switchyard/hw/pe_array/pe_array.h"

namespace switchyard::hw {

/// impl cycle, rtl, lockstep: feeds an ArrayCore with waves and writes what it drains, cycle by cycle.
///
/// Reads: the operands of one step of the reduction are fetched while the ones before are multiplied, at the
/// scratchpad's bytes a cycle, one step ahead and across the commands of an invocation. Writes: a beat is taken when
/// the scratchpad will have accepted all beats before it by the end of the cycle. A command ends with its last wave,
/// the last one of an invocation with the last result. Cycles in which the core has nothing to do are not stepped.
/// Accuracy: cycle by cycle, given one read and one write port that are never shared.
class SteppedPeArray : public PeArray {
public:
    /// Of the array's full name, under which it may leave files.
    using MakeCore = std::function<std::unique_ptr<ArrayCore>(const std::string& name)>;

    SteppedPeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry,
                   const MakeCore& make_core);

    /// Cycles that the core was stepped.
    std::uint64_t stepped_cycles() const { return stepped_; }

private:
    /// A block between its last wave and its last result.
    struct Draining {
        std::uint32_t rows = 1, columns = 1, row_outputs = 1, column_outputs = 1;
        std::uint64_t beat_bytes = 0;
        std::uint32_t beats = 0;  ///< taken
        std::uint64_t end = 0;    ///< cycle behind the last result, once all beats are taken
        const KernelAddresses* kernel = nullptr;
        std::vector<BlockAddresses::Row> row_addresses;
        std::vector<BlockAddresses::Column> column_addresses;

        std::uint32_t all_beats() const { return rows * row_outputs * column_outputs; }
    };
    struct Beat {
        std::uint64_t block = 0;
        std::uint32_t index = 0;
        bool valid = false;
    };

    std::uint64_t run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t idle_cycles) override;

    /// Feeds all waves of one block.
    void feed(const PeWorkExtension& work, const BlockAddresses* addresses, const Traffic& traffic);
    /// The wave of a step in which PEs multiply for accumulator (r, c), in one column or (column < 0) in all.
    void prepare_wave(const PeWorkExtension& work, const BlockAddresses* addresses, std::uint32_t step, std::uint32_t r,
                      std::uint32_t c, int column);
    /// Cycle in which the operands of the next step have been fetched.
    std::uint64_t fetch(std::uint64_t step_bytes);
    void cycle();
    void collect_lanes();
    void write_result(const Draining& block, std::uint32_t beat, std::uint32_t column, std::uint32_t bits);
    bool drained() const;
    /// The core answers as no array does.
    [[noreturn]] void fault(const std::string& message);

    std::unique_ptr<ArrayCore> core_;
    ArrayInput in_;
    ArrayOutput out_;
    std::uint64_t stepped_ = 0;
    std::uint64_t cycle_ = 0;  ///< of the array's own time, in which idle cycles count
    // Byte clocks: bytes that a port could have moved since cycle 0.
    std::uint64_t read_rate_ = 1, write_rate_ = 1;
    std::uint64_t fetched_ = 0;     ///< when the last step's operands were there
    std::uint64_t step_begin_ = 0;  ///< cycle of the last step's first wave: frees its predecessor's place
    std::uint64_t written_ = 0;     ///< when the last beat taken will have been written
    std::uint64_t stalled_ = 0;     ///< cycles in which the core could take a wave or give a beat and did not
    std::deque<Draining> draining_;
    std::uint64_t first_draining_ = 0;  ///< number of the front block
    std::uint64_t beat_block_ = 0;      ///< number of the block of which the next beat is
    std::vector<Beat> beats_;           ///< by cycle stepped, the last columns
    std::uint64_t lanes_until_ = 0;     ///< cycle stepped from which on none of them is under way
};

}  // namespace switchyard::hw
