// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/register_file.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// A queue of commands between a host's bus and an accelerator that does one after another.
///
/// `registers`: 32-bit registers (kId and on). The host writes OPERATION and ARGUMENT, then DOORBELL; the command goes
/// to the queue, or is counted in REFUSED if that is full. `commands`: each command as a WRITE of two words to address
/// 0; the next one follows when it returns. `irq`: high while an enabled bit of IRQ_STATUS is set.
///
/// Modelled: registers, the queue, order. Not modelled: the time of an access to a register (the bus has it).
/// Errors: a command that the accelerator refuses sets FAILED and counts as completed; the accelerator has the cause.
class CommandPort : public sc_core::sc_module {
public:
    enum Register : std::uint64_t {
        kId = 0x00,
        kStatus = 0x04,
        kOperation = 0x08,
        kArgument = 0x0c,
        kDoorbell = 0x10,
        kCompleted = 0x14,
        kIrqStatus = 0x18,
        kIrqEnable = 0x1c,
        kRefused = 0x20
    };
    enum StatusBit : std::uint32_t { kBusy = 1, kFull = 2, kFailed = 4 };
    static constexpr std::uint32_t kIdentity = 0x50435953;  ///< "SYCP"
    static constexpr std::uint32_t kCommandDone = 1;        ///< of IRQ_STATUS

    struct Config {
        unsigned queue_entries = 4;
    };
    struct Stats {
        std::uint64_t commands = 0, refused = 0, failed = 0;
    };
    static constexpr StatCounter<Stats> kCounters[] = {
        {"commands", "1", &Stats::commands}, {"refused", "1", &Stats::refused}, {"failed", "1", &Stats::failed}};

    tlm_utils::simple_target_socket<CommandPort> registers;
    tlm_utils::simple_initiator_socket<CommandPort> commands;
    sc_core::sc_out<bool> irq;

    CommandPort(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    struct Command {
        std::uint32_t words[2];
    };
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void ring();
    void run();
    void update();
    void drive_interrupt();

    Config config_;
    RegisterFile file_;
    std::deque<Command> queue_;
    bool busy_ = false, failed_ = false;
    sc_core::sc_event work_, irq_changed_;
    Stats stats_;
};

template <class V>
void describe(V& v, CommandPort::Config& c) {
    v.field("queue_entries", c.queue_entries, 1, 4096, "commands that wait for the accelerator");
}

}  // namespace switchyard::hw
