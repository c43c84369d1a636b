// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/host/command_port.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::hw {

using Access = RegisterFile::Access;

CommandPort::CommandPort(const sc_core::sc_module_name& module_name, const Config& config, SimulationRegistry& registry)
    : sc_module(module_name), registers("registers"), commands("commands"), irq("irq"), config_(config), file_(name()) {
    registers.register_b_transport(this, &CommandPort::b_transport);
    file_.add(kId, "ID", Access::ro, kIdentity, 0, "identity: \"SYCP\"");
    file_.add(kStatus, "STATUS", Access::ro, 0, 0, "bit 0: busy, 1: the queue is full, 2: a command failed");
    file_.add(kOperation, "OPERATION", Access::rw, 0, ~0U, "of the next command");
    file_.add(kArgument, "ARGUMENT", Access::rw, 0, ~0U, "of the next command");
    file_.add(kDoorbell, "DOORBELL", Access::wo, 0, ~0U, "any write: queue the command").on_write([this](auto, auto) {
        ring();
    });
    file_.add(kCompleted, "COMPLETED", Access::ro, 0, 0, "commands that are done, modulo 2^32");
    file_.add(kIrqStatus, "IRQ_STATUS", Access::w1c, 0, kCommandDone, "bit 0: a command is done")
        .on_write([this](auto, auto) { irq_changed_.notify(); });
    file_.add(kIrqEnable, "IRQ_ENABLE", Access::rw, 0, kCommandDone, "bits of IRQ_STATUS that interrupt")
        .on_write([this](auto, auto) { irq_changed_.notify(); });
    file_.add(kRefused, "REFUSED", Access::ro, 0, 0, "commands that found the queue full");
    SWITCHYARD_HAS_PROCESS(CommandPort);
    SC_THREAD(run);
    SC_METHOD(drive_interrupt);
    sensitive << irq_changed_;
    register_counters(registry, name(), kCounters, [this]() -> const Stats& { return stats_; });
}

void CommandPort::b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_dmi_allowed(false);
    file_.transport(payload);
}

void CommandPort::ring() {
    if (queue_.size() >= config_.queue_entries) {
        file_.set(kRefused, static_cast<std::uint32_t>(++stats_.refused));
        return;
    }
    queue_.push_back({{file_.get(kOperation), file_.get(kArgument)}});
    update();
    work_.notify();
}

void CommandPort::update() {
    const bool full = queue_.size() >= config_.queue_entries;
    file_.set(kStatus, (busy_ || !queue_.empty() ? kBusy : 0U) | (full ? kFull : 0U) | (failed_ ? kFailed : 0U));
}

void CommandPort::run() {
    for (;;) {
        while (queue_.empty()) wait(work_);
        Command command = queue_.front();
        queue_.pop_front();
        busy_ = true;
        update();
        ::tlm::tlm_generic_payload payload;
        payload.set_command(::tlm::TLM_WRITE_COMMAND);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(command.words));
        payload.set_data_length(sizeof command.words);
        payload.set_streaming_width(sizeof command.words);
        sc_core::sc_time delay;
        commands->b_transport(payload, delay);
        wait(delay);
        if (payload.is_response_error()) {
            failed_ = true;
            ++stats_.failed;
        }
        ++stats_.commands;
        busy_ = false;
        file_.set(kCompleted, file_.get(kCompleted) + 1);
        file_.set(kIrqStatus, kCommandDone);
        update();
        irq_changed_.notify();
    }
}

void CommandPort::drive_interrupt() {
    irq.write((file_.get(kIrqStatus) & file_.get(kIrqEnable)) != 0);
}

}  // namespace switchyard::hw
