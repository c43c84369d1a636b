// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/messages/tile_protocol.h"
#include "switchyard/hw/pe_array/operand_memory.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/extended_payload.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// An output-stationary systolic array (Adyna section VI-A and Table III): operands enter skewed from the left and the
/// top, each PE keeps row_outputs x column_outputs accumulators in two sets, of which one accumulates while the other
/// drains, and results leave through the columns. This base has the sockets, the checks, the operand traffic and the
/// counters; the implementations have the cycles and the values:
///
/// - `analytic` (analytic_pe_array.h): closed form;
/// - `cycle` (stepped_pe_array.h): cycle by cycle, C++;
/// - `rtl`, `lockstep` (rtl/pe_array): the same with the Verilated array, and with both side by side.
///
/// Modelled: all operand traffic (binary16; partial sums may be binary32) goes through the scratchpad socket; its
/// latency shows once an invocation. With addresses (PeWorkExtension) real operands are read through the scratchpad
/// socket and real results written, the same bits by every implementation. An attention's products and steps across
/// channels (KernelAddresses) are computed in C++ beside the array, whose waves give the time. Vector work takes
/// max(ceil(elements x reduction / PEs), reads, writes) cycles in all of them. Not modelled: control signals; the
/// traffic of second operands and of the parameters of fused steps; memory accesses at their exact cycle (values are
/// read and written when the command is called).
class PeArray : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "analytic";
        unsigned rows = 32, columns = 32;
        unsigned register_bytes =
            64;  ///< of a PE: two sets of accumulators (one drains while the other works), operands
        std::string acc = "fp32";
        std::string partial_sums = "fp16";
        double clock_ghz = 1.0;  ///< the chip's, set by the composer
    };
    struct Stats {
        std::uint64_t commands = 0;
        std::uint64_t macs = 0;             ///< useful multiply-accumulates
        std::uint64_t vector_elements = 0;  ///< elements read by vector work
        std::uint64_t busy_cycles = 0;      ///< with a command in progress
    };
    /// Those that reports have.
    static constexpr StatCounter<Stats> kCounters[] = {{"commands", "1", &Stats::commands},
                                                       {"macs", "1", &Stats::macs},
                                                       {"vector_elements", "1", &Stats::vector_elements},
                                                       {"busy_cycles", "cycles", &Stats::busy_cycles}};

    tlm_utils::passthrough_target_socket<PeArray> command;   ///< PeWorkExtension
    tlm_utils::simple_initiator_socket<PeArray> scratchpad;  ///< RepeatExtension

    const Stats& stats() const { return stats_; }

protected:
    /// Throws ModelError for an accumulator type that does not exist.
    PeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

    /// How the scratchpad served the operands of a command.
    struct Traffic {
        std::uint64_t read_bytes = 0, write_bytes = 0;  ///< of one block
        std::uint64_t read_bytes_per_cycle = 1, write_bytes_per_cycle = 1;
        std::uint64_t latency_cycles = 0;  ///< before the first operand, and waiting for the port
    };

    /// The command's values are an attention's, which none of the arrays multiplies.
    static bool attends(const PeWorkExtension& work);

    /// Cycles of the command, whose traffic has been moved and which begins `idle_cycles` after the end of the one
    /// before. Throws std::runtime_error if it cannot be done.
    virtual std::uint64_t run(const PeWorkExtension& work, const Traffic& traffic, std::uint64_t idle_cycles) = 0;

    /// Vector work in closed form, and its values.
    std::uint64_t run_vector(const PeWorkExtension& work, const Traffic& traffic);

    const Config& config() const { return config_; }
    bool acc_fp16() const { return config_.acc == "fp16"; }
    OperandMemory& memory() { return memory_; }

private:
    /// One operand of a block: `waves` times wave_bytes at the same address.
    struct Operand {
        ::tlm::tlm_command command;
        std::uint64_t address, wave_bytes, waves;
        std::uint64_t slot_bytes = 0;  ///< where the operands lie, from `address` on; 0: not known
        std::uint64_t bytes() const { return wave_bytes * waves; }
    };
    struct Stream {
        std::uint64_t bytes_per_cycle = 1;
        sc_core::sc_time time;  ///< of all repeats, with latency
    };

    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Between the end of the last command and `start`, which is relative to now.
    std::uint64_t idle_cycles(const sc_core::sc_time& start) const;
    /// "" or why the array cannot do it.
    std::string validation_error(const PeWorkExtension& work) const;
    /// Moves the operands of all blocks. Throws std::runtime_error if the scratchpad refuses.
    Traffic move_operands(const PeWorkExtension& work, const sc_core::sc_time& start);
    Stream stream(const Operand& operand, std::uint64_t repeats, const sc_core::sc_time& start);
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last);
    void refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status, const std::string& why);

    Config config_;
    SimulationRegistry& registry_;
    ClockPeriod clock_;
    ExtendedPayload<RepeatExtension> burst_;
    OperandMemory memory_;
    sc_core::sc_time busy_until_;  ///< one command after another
    Stats stats_;
};

/// More than any block may use: a set of accumulators is at most half of the registers.
unsigned accumulators_of_a_pe(const PeArray::Config& config);

/// The array that `config.impl` names: `analytic` or `cycle`. Throws InputError for any other name;
/// rtl::make_pe_array() knows those in RTL as well.
std::unique_ptr<PeArray> make_pe_array(const char* name, const PeArray::Config& config, SimulationRegistry& registry);

inline const std::vector<std::string> kPeArrayImplementations{"analytic", "cycle", "rtl", "lockstep"};

template <class V>
void describe(V& v, PeArray::Config& c) {
    v.choice("impl", c.impl, kPeArrayImplementations,
             "closed form, cycle by cycle, Verilated RTL, or the last two side by side");
    v.field("rows", c.rows, 1, 1024, "PE rows");
    v.field("columns", c.columns, 1, 1024, "PE columns");
    v.field("register_bytes", c.register_bytes, 2, 4096,
            "registers of a PE: two sets of accumulators and the operands");
    v.choice("acc", c.acc, {"fp32", "fp16"}, "accumulator type");
    v.choice(
        "partial_sums", c.partial_sums, {"fp16", "fp32"},
        "type in which sums over channel groups and slices of reductions are handed on to where they are added up");
}

}  // namespace switchyard::hw
