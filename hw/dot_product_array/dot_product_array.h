// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/dot_product_array/dot_product_core.h"
#include "switchyard/hw/dot_product_array/line_buffer.h"
#include "switchyard/hw/dot_product_array/pass_sequencer.h"
#include "switchyard/hw/messages/dot_product_work.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// SushiAccel's compute array (MLSys 2023, section 4.2): rows x columns dot-product engines of nine int8 inputs, the
/// line buffer in front of them, in-place accumulation in int32 and integer re-quantisation behind them. `command`
/// takes a work unit (DotProductWorkExtension) and adds its cycles to the delay; operands come from and results go to
/// the buffers behind the other sockets.
///
/// - `analytic`: closed form of weight tiles (weight_tiles.h); values by loops over the window.
/// - `cycle`: every cycle of the array's inputs (PassSequencer) and, with values, of its registers
/// (CycleDotProductCore) and of the line buffer (CycleLineBuffer), one a channel.
/// - `rtl`, `lockstep`: the same with rtl/dot_product_array in place of the model, or beside it.
/// All of them give the same cycles and the same bits.
///
/// Modelled: weights forwarded from row to row and kept, inputs streamed through, the adder tree of a row, kernels
/// larger than nine in several columns, nine channels of a 1x1 kernel in one, depthwise kernels with zero weights in
/// the other columns, padding and stride in the line buffer. Not modelled: stalls (a unit begins when its operands are
/// in the buffers, whose width is what the array takes), addresses and ports of single accumulations in the output
/// buffer, energy. Errors: a unit that the array cannot do and a buffer that refuses are TLM_GENERIC_ERROR_RESPONSE
/// with the cause in the registry; RTL that differs is a ModelError.
class DotProductArray : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "analytic";
        unsigned rows = 12, columns = 12;
        double clock_ghz = 0.1;  ///< the accelerator's, set by the composer

        sched::DotProductShape shape() const { return {rows, columns}; }
    };
    struct Stats {
        std::uint64_t units = 0, passes = 0;
        std::uint64_t macs = 0;         ///< of the layers; zero weights beside depthwise kernels are none
        std::uint64_t busy_cycles = 0;  ///< inputs in use, or the line buffer fills
    };
    static constexpr StatCounter<Stats> kCounters[] = {{"units", "1", &Stats::units},
                                                       {"passes", "1", &Stats::passes},
                                                       {"macs", "1", &Stats::macs},
                                                       {"busy_cycles", "cycles", &Stats::busy_cycles}};

    tlm_utils::simple_target_socket<DotProductArray> command;
    tlm_utils::simple_initiator_socket<DotProductArray> persistent, dynamic, streaming, parameters, output;

    DotProductArray(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry,
                    const DotProductCoreFactory& make_core = &make_dot_product_core,
                    LineBufferFactory make_line_buffer = &hw::make_line_buffer);

    const Stats& stats() const { return stats_; }

private:
    using Socket = tlm_utils::simple_initiator_socket<DotProductArray>;
    /// Values of a unit.
    struct Operands {
        std::vector<std::int8_t> weights;        ///< [kernel of the tile][channel][window]
        std::vector<std::int8_t> input;          ///< [channel][row][column], padded
        std::uint32_t rows = 0, columns = 0;     ///< of the padded input
        std::int64_t first_row = 0;              ///< input row of its first one; padding: negative
        std::vector<std::int32_t> accumulators;  ///< [kernel of the tile][position]
    };

    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Throws std::runtime_error.
    std::vector<std::uint8_t> read(Socket& socket, std::uint64_t address, std::uint64_t bytes);
    void write(Socket& socket, std::uint64_t address, std::vector<std::uint8_t> bytes);

    Operands fetch(const DotProductWorkExtension& work);
    void accumulate(const DotProductWorkExtension& work, Operands& operands) const;
    std::uint64_t step_through(const DotProductWorkExtension& work, Operands* operands);
    /// Windows of 1x1 kernels, which need no line buffer.
    void fill_input(const DotProductWorkExtension& work, const Operands& operands, std::uint32_t pass, std::int64_t row,
                    std::uint32_t column, DotProductInput& in) const;
    /// One pixel to the line buffer of each channel of the pass; windows that leave go to the array's inputs.
    void step_lines(const DotProductWorkExtension& work, const Operands& operands, const PassSequencer::Step& at,
                    DotProductInput& in);
    void fill_weights(const DotProductWorkExtension& work, const Operands& operands, std::uint32_t pass,
                      std::uint32_t kernel, DotProductInput& in) const;
    void put_out(const DotProductWorkExtension& work, const Operands& operands);

    Config config_;
    ClockPeriod clock_;
    SimulationRegistry& registry_;
    std::unique_ptr<DotProductCore> core_;  ///< null: analytic
    LineBufferFactory make_line_buffer_;
    std::map<std::uint32_t, std::vector<std::unique_ptr<LineBufferCore>>> lines_;  ///< by the window's side; made once
    Stats stats_;
};

template <class V>
void describe(V& v, DotProductArray::Config& c) {
    v.choice("impl", c.impl, {"analytic", "cycle", "rtl", "lockstep"},
             "closed form, cycle by cycle, Verilated RTL, or the last two side by side");
    v.field("rows", c.rows, 1, 256, "rows of dot-product engines: kernels at a time");
    v.field("columns", c.columns, 1, 256, "columns of dot-product engines, nine inputs each: channels at a time");
}

}  // namespace switchyard::hw
