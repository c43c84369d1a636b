#pragma once

#include <cstdint>
#include <string>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/extended_payload.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/tile_protocol.h"

namespace switchyard::hw {

/// An output-stationary systolic array (Adyna section VI-A and Table III): operands enter skewed from the left and the
/// top, each PE keeps row_outputs x column_outputs accumulators, results leave through the columns.
///
/// Modelled (impl analytic): closed-form cycles of blocks, in which fill and drain overlap with the blocks around them;
/// a block takes max(compute, drain, scratchpad reads, scratchpad writes), where
///   compute = reduction x row_outputs x column_outputs, drain = rows x row_outputs x column_outputs,
/// an invocation's first block rows + columns - 2 more to fill, and its last one the drain once more. Vector work:
/// max(ceil(elements x reduction / PEs), reads, writes). Scratchpad latency shows once an invocation. All operand
/// traffic (binary16) goes through the scratchpad socket.
/// Accuracy: exact for this pipeline; a scratchpad slower than the array is averaged over a block.
/// Not modelled: values, stalls inside a block, control signals.
class PeArray : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "analytic";
        unsigned rows = 32, columns = 32;
        unsigned register_bytes =
            64;  ///< of a PE: two sets of accumulators (one drains while the other works), operands
        std::string acc = "fp32";
        double clock_ghz = 1.0;  ///< the chip's, set by the composer
    };
    struct Stats {
        std::uint64_t commands = 0;
        std::uint64_t macs = 0;             ///< useful multiply-accumulates
        std::uint64_t vector_elements = 0;  ///< elements read by vector work
        std::uint64_t busy_cycles = 0;      ///< with a command in progress
    };

    tlm_utils::simple_target_socket<PeArray> command;        ///< PeWorkExtension
    tlm_utils::simple_initiator_socket<PeArray> scratchpad;  ///< RepeatExtension

    /// Throws ModelError for an implementation or accumulator type that does not exist.
    PeArray(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    /// One operand of a block: `waves` times wave_bytes at the same address.
    struct Operand {
        ::tlm::tlm_command command;
        std::uint64_t address, wave_bytes, waves;
        std::uint64_t bytes() const { return wave_bytes * waves; }
    };
    /// How the scratchpad served an operand.
    struct Stream {
        std::uint64_t bytes_per_cycle = 1;
        sc_core::sc_time time;  ///< of all repeats, with latency
    };

    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// "" or why the array cannot do it.
    std::string objection(const PeWorkExtension& work) const;
    /// Moves the operand of `repeats` blocks. Throws std::runtime_error if the scratchpad refuses.
    Stream stream(const Operand& operand, std::uint64_t repeats, const sc_core::sc_time& start);
    /// Cycles of the whole command that begins at `start`, and its operand traffic.
    std::uint64_t run(const PeWorkExtension& work, const sc_core::sc_time& start);
    void refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status, const std::string& why);

    Config config_;
    SimulationRegistry& registry_;
    ClockPeriod clock_;
    std::uint64_t accumulator_bytes_;
    ExtendedPayload<RepeatExtension> burst_;
    sc_core::sc_time busy_until_;  ///< one command after another
    Stats stats_;
};

template <class V>
void describe(V& v, PeArray::Config& c) {
    v.choice("impl", c.impl, {"analytic"}, "model of the PE array");
    v.field("rows", c.rows, 1, 1024, "PE rows");
    v.field("columns", c.columns, 1, 1024, "PE columns");
    v.field("register_bytes", c.register_bytes, 2, 4096,
            "registers of a PE: two sets of accumulators and the operands");
    v.choice("acc", c.acc, {"fp32", "fp16"}, "accumulator type");
}

}  // namespace switchyard::hw
