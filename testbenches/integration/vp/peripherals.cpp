// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/vp/peripherals.h"

#include <algorithm>

namespace switchyard::testing {

using Access = RegisterFile::Access;
using sc_core::sc_time;

Peripheral::Peripheral(const sc_core::sc_module_name& module_name)
    : sc_module(module_name), socket("socket"), registers_(name()) {
    socket.register_b_transport(this, &Peripheral::b_transport);
    socket.register_transport_dbg(this, &Peripheral::transport_dbg);
}

void Peripheral::b_transport(::tlm::tlm_generic_payload& payload, sc_time& delay) {
    access_delay_ = delay;
    registers_.transport(payload);
}

unsigned Peripheral::transport_dbg(::tlm::tlm_generic_payload& payload) {
    return registers_.transport_dbg(payload);
}

InterruptController::InterruptController(const sc_core::sc_module_name& module_name, bool edge_triggered)
    : Peripheral(module_name),
      accelerator("accelerator"),
      irq("irq"),
      edge_triggered_(edge_triggered),
      changed_("changed") {
    registers_.add(kPending, "PENDING", Access::ro, 0, 0, "sources that ask for an interrupt")
        .on_read([this](std::uint32_t) { return pending(); });
    registers_.add(kEnable, "ENABLE", Access::rw, 0, 0xFFFFFFFE, "sources that interrupt the hart")
        .on_write([this](std::uint32_t, std::uint32_t) { changed_.notify(access_delay_); });
    registers_.add(kClaim, "CLAIM", Access::rw, 0, 0xFFFFFFFF, "read: claim a source, 0 if none; write: it is done")
        .on_read([this](std::uint32_t) { return claim(); })
        .on_write([this](std::uint32_t source, std::uint32_t) {
            if (source < 32) claimed_ &= ~(1u << source);
            changed_.notify(access_delay_);
        });
    SC_METHOD(update);
    sensitive << accelerator << changed_;
    SC_METHOD(rise);
    sensitive << accelerator.pos();
    dont_initialize();
}

void InterruptController::rise() {
    risen_ |= 1u << 1;
    changed_.notify();
}

std::uint32_t InterruptController::pending() const {
    if (edge_triggered_) return risen_;
    return accelerator.read() ? 1u << 1 : 0;
}

std::uint32_t InterruptController::claim() {
    const std::uint32_t due = pending() & registers_.get(kEnable) & ~claimed_;
    std::uint32_t source = 0;
    while (source < 32 && (due >> source & 1) == 0) ++source;
    if (source == 32) return 0;
    claimed_ |= 1u << source;
    risen_ &= ~(1u << source);
    changed_.notify(access_delay_);
    return source;
}

void InterruptController::update() {
    irq.write((pending() & registers_.get(kEnable) & ~claimed_) != 0);
}

Uart::Uart(const sc_core::sc_module_name& module_name) : Peripheral(module_name) {
    registers_.add(kTransmit, "TRANSMIT", Access::wo, 0, 0xFF, "a character")
        .on_write([this](std::uint32_t character, std::uint32_t) { text_ += static_cast<char>(character); });
}

SystemControl::SystemControl(const sc_core::sc_module_name& module_name)
    : Peripheral(module_name), irq("irq"), changed_("changed") {
    static const sc_time kMicrosecond(1, sc_core::SC_US);
    registers_.add(kNow, "NOW", Access::ro, 0, 0, "microseconds since the beginning").on_read([this](std::uint32_t) {
        return static_cast<std::uint32_t>((sc_core::sc_time_stamp() + access_delay_).value() / kMicrosecond.value());
    });
    registers_.add(kAlarm, "ALARM", Access::rw, 0, 0xFFFFFFFF, "the interrupt is high when NOW has reached it")
        .on_write([this](std::uint32_t time, std::uint32_t) {
            alarm_ = sc_time::from_value(time * kMicrosecond.value());
            armed_ = true;
            changed_.notify(access_delay_);
        });
    registers_.add(kPowerOff, "POWER_OFF", Access::wo, 0, 0xFFFFFFFF, "a code: ends the simulation")
        .on_write([this](std::uint32_t code, std::uint32_t) {
            off_ = true;
            exit_code_ = code;
            sc_core::sc_stop();
        });
    SC_METHOD(update);
    sensitive << changed_;
    dont_initialize();
}

void SystemControl::update() {
    const sc_time now = sc_core::sc_time_stamp();
    irq.write(armed_ && now >= alarm_);
    if (now < alarm_) changed_.notify(alarm_ - now);
}

}  // namespace switchyard::testing
