// SPDX-License-Identifier: Apache-2.0
#include "switchyard/tlm/memory_manager.h"

#include <systemc>

namespace switchyard {
namespace {

void set_defaults(::tlm::tlm_generic_payload& payload) {
    payload.set_command(::tlm::TLM_IGNORE_COMMAND);
    payload.set_address(0);
    payload.set_data_ptr(nullptr);
    payload.set_data_length(0);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_byte_enable_length(0);
    payload.set_streaming_width(0);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace

::tlm::tlm_generic_payload& PayloadPool::Store::allocate() {
    if (free_.empty()) {
        Slot& slot = make();
        slot.set_mm(this);
        free_.push_back(&slot);
        ++capacity_;
    }
    Slot& payload = *free_.back();
    free_.pop_back();
    payload.acquire();
    return payload;
}

void PayloadPool::Store::free(::tlm::tlm_generic_payload* payload) {
    Slot& slot = static_cast<Slot&>(*payload);
    slot.reset();
    set_defaults(slot);
    slot.reset_kept();
    free_.push_back(&slot);
    if (orphaned_ && in_use() == 0) delete this;
}

void PayloadPool::Store::orphan() {
    orphaned_ = true;
    if (in_use() == 0) delete this;
}

PayloadPool::PayloadPool(std::string name) : PayloadPool(std::move(name), new StoreOf<Slot>) {}

PayloadPool::~PayloadPool() {
    const std::size_t leaked = store_->in_use();
    store_->orphan();
    // An exception that leaves sc_start leaves the kernel running.
    const bool cut_short = sc_core::sc_pending_activity() || sc_core::sc_get_status() == sc_core::SC_RUNNING;
    if (leaked == 0 || cut_short) return;
    try {
        SC_REPORT_WARNING("switchyard/payload_leak",
                          (name_ + ": " + std::to_string(leaked) + " payloads were never released").c_str());
    } catch (const sc_core::sc_report&) {  // a handler that turns warnings into exceptions has had its say
    }
}

::tlm::tlm_generic_payload& PayloadPool::allocate() {
    return store_->allocate();
}
std::size_t PayloadPool::in_use() const {
    return store_->in_use();
}
std::size_t PayloadPool::capacity() const {
    return store_->capacity();
}

}  // namespace switchyard
