// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "switchyard/tlm/base_protocol_monitor.h"

namespace switchyard {

/// A transparent component (IEEE 1666 15.2.5 k) for any link of the base protocol: bind the initiator to
/// `target_socket`, `initiator_socket` to the target. All calls pass unchanged and in no time; each that breaks a rule
/// of base_protocol_rules.h is reported as SC_ERROR "switchyard/base_protocol/<rule>", or to the handler.
///
/// Checked: one hop. Not checked: that a request takes the same path as its response, what happens to a payload before
/// and behind this link, and (because it costs time) data arrays beyond their first 4 KiB.
/// A link whose models deviate knowingly waives the rule by name, visibly:
///   checker.monitor().waive(BaseProtocolRule::b_transport_in_method);
template <unsigned BUSWIDTH = 32>
class BaseProtocolChecker : public sc_core::sc_module,
                            public ::tlm::tlm_fw_transport_if<>,
                            public ::tlm::tlm_bw_transport_if<> {
public:
    ::tlm::tlm_target_socket<BUSWIDTH> target_socket;
    ::tlm::tlm_initiator_socket<BUSWIDTH> initiator_socket;

    explicit BaseProtocolChecker(const sc_core::sc_module_name& module_name)
        : sc_module(module_name),
          target_socket("target_socket"),
          initiator_socket("initiator_socket"),
          monitor_(name()) {
        target_socket.bind(*this);
        initiator_socket.bind(*this);
    }

    BaseProtocolMonitor& monitor() { return monitor_; }

private:
    using Payload = ::tlm::tlm_generic_payload;
    using Call = BaseProtocolMonitor::Call;

    static Call call(const ::tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
        return {phase, delay, sc_core::sc_time_stamp() + delay, sc_core::sc_delta_count()};
    }
    static Call call() { return call(::tlm::tlm_phase(), sc_core::SC_ZERO_TIME); }

    void b_transport(Payload& payload, sc_core::sc_time& delay) override {
        const Call begin = call(::tlm::tlm_phase(), delay);
        const auto before = monitor_.b_transport_called(payload, begin);
        initiator_socket->b_transport(payload, delay);
        monitor_.b_transport_returned(payload, before, begin, delay);
    }

    ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
        const Reference reference(payload);
        const Call begin = call(phase, delay);
        monitor_.forward_called(payload, begin);
        const ::tlm::tlm_sync_enum sync = initiator_socket->nb_transport_fw(payload, phase, delay);
        monitor_.forward_returned(payload, begin, sync, phase, delay);
        return sync;
    }

    ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
        const Reference reference(payload);
        const Call begin = call(phase, delay);
        monitor_.backward_called(payload, begin);
        const ::tlm::tlm_sync_enum sync = target_socket->nb_transport_bw(payload, phase, delay);
        monitor_.backward_returned(payload, begin, sync, phase, delay);
        return sync;
    }

    bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override {
        const Call begin = call();
        const auto before = monitor_.dmi_called(payload, dmi);
        const bool granted = initiator_socket->get_direct_mem_ptr(payload, dmi);
        monitor_.dmi_returned(payload, before, begin, granted, dmi);
        return granted;
    }

    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
        const Call begin = call();
        monitor_.invalidate_called(start, end);
        target_socket->invalidate_direct_mem_ptr(start, end);
        monitor_.invalidate_returned(begin);
    }

    unsigned int transport_dbg(Payload& payload) override {
        const Call begin = call();
        const auto before = monitor_.debug_called(payload);
        const unsigned count = initiator_socket->transport_dbg(payload);
        monitor_.debug_returned(payload, before, begin, count);
        return count;
    }

    /// Keeps a payload alive until the return has been checked: the callee may drop the last reference but ours. Taken
    /// only where somebody holds one already, so that a missing reference is still found.
    class Reference {
    public:
        explicit Reference(Payload& payload) : payload_(payload.get_ref_count() > 0 ? &payload : nullptr) {
            if (payload_) payload_->acquire();
        }
        ~Reference() {
            if (payload_) payload_->release();
        }
        Reference(const Reference&) = delete;
        Reference& operator=(const Reference&) = delete;

    private:
        Payload* payload_;
    };

    BaseProtocolMonitor monitor_;
};

}  // namespace switchyard
