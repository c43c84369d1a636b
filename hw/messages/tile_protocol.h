// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tlm>

#include "switchyard/hw/messages/operator_values.h"
#include "switchyard/sw_scheduler/adyna/image/array_timing.h"
#include "switchyard/sw_scheduler/adyna/image/samples.h"
#include "switchyard/tlm/block_addresses.h"

/// Commands between the components of a tile. Each is an extension on a payload with TLM_IGNORE_COMMAND, sent by
/// b_transport; the target adds the command's duration to `delay` and fills in the results.
namespace switchyard {

/// Dispatcher to PE array: `repeats` identical blocks of the template nest, one after another.
/// A block: rows x columns PEs, each with row_outputs x column_outputs accumulators, each accumulating `reduction`
/// products. vector_op: element-wise work, `reduction` elements read for each output. channelwise: a column multiplies
/// inputs of its own (depthwise convolution), so that a wave of operands feeds one column.
struct PeWorkExtension : ::tlm::tlm_extension<PeWorkExtension> {
    bool vector_op = false;
    bool channelwise = false;
    std::uint8_t operand_bytes = 2,
                 result_bytes = 2;  ///< an element; 4: binary32, of vector work's operands, of results
    std::uint32_t rows = 1, columns = 1;
    std::uint32_t row_outputs = 1, column_outputs = 1;
    std::uint32_t reduction = 1;
    std::uint64_t outputs = 0;  ///< wanted of a block: the last PEs may hold less than the others; 0: all
    std::uint64_t repeats = 1;
    bool first = true, last = true;  ///< of one kernel invocation: pipeline fill before, drain after
    /// All blocks of the invocation, if its commands put together blocks that do not follow one another; null: blocks
    /// come as they are commanded.
    const BlockNest* nest = nullptr;
    std::uint32_t input_offset = 0, weight_offset = 0, output_offset = 0;  ///< scratchpad bytes
    std::uint32_t input_bytes = 0;              ///< where the input lies, from input_offset on; 0: not known
    const BlockAddresses* addresses = nullptr;  ///< one for each of the `repeats` blocks; null: sizes only

    std::uint64_t cycles = 0;  ///< result: cycles added to delay
    std::uint64_t macs = 0;    ///< result: useful multiply-accumulates (or vector element operations)

    ::tlm::tlm_extension_base* clone() const override { return new PeWorkExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const PeWorkExtension&>(other);
    }
};

/// PE array, network interface and dispatcher to scratchpad: the payload's burst is repeated `repeats` times
/// (operands re-read from the same region). Ignorable: without it a burst happens once.
struct RepeatExtension : ::tlm::tlm_extension<RepeatExtension> {
    std::uint64_t repeats = 1;
    bool has_values = true;  ///< false: only sizes move, the data array is not touched

    std::uint64_t bytes_per_cycle = 0;  ///< result: rate of the port; what `delay` grew beyond the bytes at that rate
                                        ///< is latency and waiting, which a stream of bursts shows only once

    ::tlm::tlm_extension_base* clone() const override { return new RepeatExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const RepeatExtension&>(other);
    }
};

/// Controller to dispatcher: run operator `operator_index` (of the tile's program) on `dyn_dim` samples.
/// At delay's end the dispatcher has issued the send to the network interface.
struct DispatchExtension : ::tlm::tlm_extension<DispatchExtension> {
    std::uint16_t operator_index = 0;
    std::uint16_t kernel_first = 0, kernel_count = 0;  ///< range in the tile's kernel store
    std::uint16_t rank = 0;
    std::uint16_t unit = 0;
    std::uint32_t batch = 0;
    std::uint32_t dyn_dim = 0;
    std::uint32_t invocation_samples = 0;  ///< dyn_dim by which the kernel is selected; 0: the unit's own
    bool continued = false;                ///< a later unit of an invocation, which has been counted
    std::uint32_t input_offset = 0, weight_offset = 0, output_offset = 0;
    std::uint32_t input_bytes = 0;                     ///< as in PeWorkExtension
    bool multicast = false;                            ///< the output goes out on more than one edge
    bool channelwise = false;                          ///< of multiply-accumulate work, as in PeWorkExtension
    std::uint8_t operand_bytes = 2, result_bytes = 2;  ///< as in PeWorkExtension
    const OperatorValues* values = nullptr;            ///< null: sizes only
    SampleIndexListPtr index_list;                     ///< passed on to the network interface

    int kernel = -1;                     ///< result: index in the kernel store, -1: none is large enough
    std::uint64_t cycles = 0, macs = 0;  ///< results
    std::uint64_t blocks_issued = 0, blocks_skipped = 0;  ///< results: kernel fitting
    std::uint64_t search_cycles = 0;                      ///< result: of `cycles`, for finding the kernel

    std::uint32_t selected_by() const { return invocation_samples > 0 ? invocation_samples : dyn_dim; }

    ::tlm::tlm_extension_base* clone() const override { return new DispatchExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const DispatchExtension&>(other);
    }
};

/// Dispatcher to network interface: the output of (operator, unit) is complete when `delay` has passed; send it on all
/// of the operator's out-edges.
struct SendExtension : ::tlm::tlm_extension<SendExtension> {
    std::uint16_t operator_index = 0;
    std::uint16_t unit = 0;
    std::uint32_t batch = 0;
    std::uint32_t dyn_dim = 0;
    std::uint32_t output_offset = 0;
    bool multicast = false;  ///< the instruction: unicast or multicast
    SampleIndexListPtr index_list;

    ::tlm::tlm_extension_base* clone() const override { return new SendExtension(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        *this = static_cast<const SendExtension&>(other);
    }
};

/// Address map that a tile shows to `config` packets (real bytes, little-endian). Window writes arrive in any order
/// before the commit. A commit answers with a `control` packet: program_ready or program_error.
inline constexpr std::uint64_t kTileProgramWindow = 0x0000'0000;  ///< encoded TileProgram
inline constexpr std::uint64_t kTileProgramCommit = 0x8000'0000;  ///< write u32: size of the program in bytes
inline constexpr std::uint64_t kTileProfileRead = 0x9000'0000;    ///< READ: answered by a `config` packet to the host
inline constexpr std::uint64_t kTileProfileClear = 0x9000'0004;   ///< write u32: clears the profiler's counters

/// A tile's profile as it travels to the host: one record a kernel and one with dyn_dim 0 for empty units.
struct ProfileRecord {
    std::uint16_t op_id = 0;
    std::uint16_t kernel_dyn_dim = 0;  ///< of the kernel selected; 0: no sample reached the operator
    std::uint32_t invocations = 0;
};
static_assert(sizeof(ProfileRecord) == 8);

/// AdynaMessage::control.
enum class ControlCode : std::uint32_t { segment_start = 1, segment_done = 2, program_ready = 3, program_error = 4 };

}  // namespace switchyard
