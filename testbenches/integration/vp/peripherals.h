// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/tlm/has_process.h"
#include "switchyard/tlm/register_file.h"

/// What a small system on a chip has around its core. Loosely timed, registers of 32 bits; an access takes no time but
/// the bus's.
namespace switchyard::testing {

/// Registers behind a socket.
class Peripheral : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<Peripheral> socket;

    explicit Peripheral(const sc_core::sc_module_name& name);

protected:
    RegisterFile registers_;
    sc_core::sc_time access_delay_;  ///< of the access in progress: the initiator's time is so much ahead

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(::tlm::tlm_generic_payload& payload);
};

/// Sources for one hart, all of one priority; a source that was claimed is silent until it is completed. Source 0 does
/// not exist, 1 is the accelerator. Level-triggered: a source is pending while its line is high; edge-triggered: from
/// when it has risen until it is claimed.
class InterruptController : public Peripheral {
public:
    enum Offset : std::uint64_t { kPending = 0x0, kEnable = 0x4, kClaim = 0x8 };

    sc_core::sc_in<bool> accelerator;
    sc_core::sc_out<bool> irq;

    explicit InterruptController(const sc_core::sc_module_name& name, bool edge_triggered = false);

private:
    SWITCHYARD_HAS_PROCESS(InterruptController);
    void update();
    void rise();
    std::uint32_t pending() const;
    std::uint32_t claim();

    const bool edge_triggered_;
    std::uint32_t risen_ = 0, claimed_ = 0;
    sc_core::sc_event changed_;
};

/// Sends characters; they take no time and pile up in `text()`.
class Uart : public Peripheral {
public:
    enum Offset : std::uint64_t { kTransmit = 0x0 };

    explicit Uart(const sc_core::sc_module_name& name);

    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// A clock of microseconds, an alarm (its interrupt is high from the time that was written on, until another is), and a
/// switch that ends the simulation.
class SystemControl : public Peripheral {
public:
    enum Offset : std::uint64_t { kNow = 0x0, kAlarm = 0x4, kPowerOff = 0x8 };

    sc_core::sc_out<bool> irq;

    explicit SystemControl(const sc_core::sc_module_name& name);

    bool is_off() const { return off_; }
    std::uint32_t exit_code() const { return exit_code_; }

private:
    SWITCHYARD_HAS_PROCESS(SystemControl);
    void update();

    sc_core::sc_time alarm_;
    bool armed_ = false, off_ = false;
    std::uint32_t exit_code_ = 0;
    sc_core::sc_event changed_;
};

}  // namespace switchyard::testing
