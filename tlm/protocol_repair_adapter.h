// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <systemc>
#include <tlm>

namespace switchyard {

/// What ProtocolRepairAdapter repairs, without its sockets.
class BoundaryRepairs {
public:
    using Payload = ::tlm::tlm_generic_payload;
    enum class Repair {
        streaming_width_zero,     ///< of the initiator: the data length is meant
        byte_enable_length_zero,  ///< of the initiator: no byte enables are meant
        response_status_initial,  ///< of the initiator: something else than TLM_INCOMPLETE_RESPONSE
        dmi_hint_initial,         ///< of the initiator: DMI allowed is set
        response_status_missing,  ///< of the target: success is meant
        address_not_restored,     ///< of the target
        time_decreased            ///< of the target: the delay is put back to what it was
    };
    static constexpr unsigned kRepairs = 7;

    explicit BoundaryRepairs(std::string link) : link_(std::move(link)) {}

    /// How often something was repaired.
    std::uint64_t count(Repair repair) const { return counts_[static_cast<unsigned>(repair)]; }
    /// One line a kind of repair, with how often and why; empty if all was well.
    std::string summary() const;

protected:
    /// What an initiator must get back.
    struct Original {
        std::uint64_t address = 0;
        unsigned streaming_width = 0;
        unsigned char* byte_enables = nullptr;
    };

    Original repair_request(Payload& payload);
    void repair_response(Payload& payload, const Original& original);
    void repair_address(Payload& payload, std::uint64_t address);
    void repair_delay(sc_core::sc_time& delay, const sc_core::sc_time& before);

private:
    void report(Repair repair, const Payload* payload);

    std::string link_;
    std::array<std::uint64_t, kRepairs> counts_{};
};

const char* to_string(BoundaryRepairs::Repair repair);

/// Between a link's ends where the other side belongs to a virtual prototype that breaks rules of TLM-2.0 and cannot be
/// changed: bind it like a BaseProtocolChecker. What passes it obeys the rules that `Repair` lists; everything else,
/// and everything that is well already, passes unchanged and in no time. Nobody mounts one but who needs it.
///
/// An initiator gets its attributes back with the response; with nb_transport it can see the repaired ones until then.
/// The first repair of each kind is an SC_WARNING "switchyard/protocol_repair_adapter/<repair>" that names the link and
/// the payload; `count` and `summary` have them all. A side that breaks the order of phases is beyond it.
template <unsigned BUSWIDTH = 32>
class ProtocolRepairAdapter : public sc_core::sc_module,
                              public BoundaryRepairs,
                              public ::tlm::tlm_fw_transport_if<>,
                              public ::tlm::tlm_bw_transport_if<> {
public:
    using Payload = ::tlm::tlm_generic_payload;
    ::tlm::tlm_target_socket<BUSWIDTH> target_socket;
    ::tlm::tlm_initiator_socket<BUSWIDTH> initiator_socket;

    explicit ProtocolRepairAdapter(const sc_core::sc_module_name& module_name)
        : sc_module(module_name),
          BoundaryRepairs(sc_module::name()),
          target_socket("target_socket"),
          initiator_socket("initiator_socket") {
        target_socket.bind(*this);
        initiator_socket.bind(*this);
    }

private:
    void b_transport(Payload& payload, sc_core::sc_time& delay) override {
        const Original original = repair_request(payload);
        const sc_core::sc_time local = sc_core::sc_time_stamp() + delay;
        initiator_socket->b_transport(payload, delay);
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        if (local > now) repair_delay(delay, local - now);
        repair_response(payload, original);
    }

    ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
        if (phase == ::tlm::BEGIN_REQ) under_way_[&payload] = repair_request(payload);
        const sc_core::sc_time before = delay;
        const ::tlm::tlm_sync_enum sync = initiator_socket->nb_transport_fw(payload, phase, delay);
        if (sync != ::tlm::TLM_ACCEPTED) repair_delay(delay, before);
        if (sync == ::tlm::TLM_COMPLETED || (sync == ::tlm::TLM_UPDATED && phase == ::tlm::BEGIN_RESP))
            response(payload);
        return sync;
    }

    ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
        if (phase == ::tlm::BEGIN_RESP) response(payload);
        return target_socket->nb_transport_bw(payload, phase, delay);
    }

    /// Of a transaction whose response has not been seen; END_RESP comes after it.
    void response(Payload& payload) {
        const auto found = under_way_.find(&payload);
        if (found == under_way_.end()) return;
        repair_response(payload, found->second);
        under_way_.erase(found);
    }

    bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override {
        const std::uint64_t address = payload.get_address();
        const bool granted = initiator_socket->get_direct_mem_ptr(payload, dmi);
        repair_address(payload, address);
        return granted;
    }

    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
        target_socket->invalidate_direct_mem_ptr(start, end);
    }

    unsigned int transport_dbg(Payload& payload) override {
        const std::uint64_t address = payload.get_address();
        const unsigned count = initiator_socket->transport_dbg(payload);
        repair_address(payload, address);
        return count;
    }

    std::map<const Payload*, Original> under_way_;
};

}  // namespace switchyard
