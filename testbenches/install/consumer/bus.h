// SPDX-License-Identifier: Apache-2.0
// A memory-mapped bus of somebody else's: two masters, slaves at ranges of addresses, each of which sees addresses from
// zero on. Loosely and approximately timed, DMI and debug; an access takes 2 ns.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <map>
#include <systemc>
#include <tlm>
#include <vector>

class Bus : public sc_core::sc_module {
public:
    tlm_utils::multi_passthrough_target_socket<Bus> masters;
    tlm_utils::multi_passthrough_initiator_socket<Bus> slaves;

    explicit Bus(const sc_core::sc_module_name& name) : sc_module(name), masters("masters"), slaves("slaves") {
        masters.register_b_transport(this, &Bus::b_transport);
        masters.register_nb_transport_fw(this, &Bus::nb_transport_fw);
        masters.register_transport_dbg(this, &Bus::transport_dbg);
        masters.register_get_direct_mem_ptr(this, &Bus::get_direct_mem_ptr);
        slaves.register_nb_transport_bw(this, &Bus::nb_transport_bw);
        slaves.register_invalidate_direct_mem_ptr(this, &Bus::invalidate);
    }

    /// Of the slave that is bound next.
    void map(std::uint64_t begin, std::uint64_t bytes) { ranges_.push_back({begin, bytes}); }

private:
    struct Range {
        std::uint64_t begin, bytes;
    };
    struct Transaction {
        int master;
        std::size_t slave;
        std::uint64_t address;
    };

    std::size_t decode(std::uint64_t address) const {
        std::size_t slave = 0;
        while (slave < ranges_.size() && address - ranges_[slave].begin >= ranges_[slave].bytes) ++slave;
        return slave;
    }

    void b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const std::uint64_t address = payload.get_address();
        const std::size_t slave = decode(address);
        if (slave == ranges_.size()) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        payload.set_address(address - ranges_[slave].begin);
        delay += sc_core::sc_time(2, sc_core::SC_NS);
        slaves[static_cast<int>(slave)]->b_transport(payload, delay);
        payload.set_address(address);
    }

    tlm::tlm_sync_enum nb_transport_fw(int master, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
        if (phase == tlm::BEGIN_REQ) {
            const std::uint64_t address = payload.get_address();
            const std::size_t slave = decode(address);
            if (slave == ranges_.size()) {
                payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
                return tlm::TLM_COMPLETED;
            }
            under_way_[&payload] = {master, slave, address};
            payload.set_address(address - ranges_[slave].begin);
            delay += sc_core::sc_time(2, sc_core::SC_NS);
        }
        const auto transaction = under_way_.find(&payload);
        const int slave = static_cast<int>(transaction->second.slave);
        const tlm::tlm_sync_enum sync = slaves[slave]->nb_transport_fw(payload, phase, delay);
        if (sync == tlm::TLM_COMPLETED || (sync == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP))
            payload.set_address(transaction->second.address);
        if (sync == tlm::TLM_COMPLETED) under_way_.erase(transaction);
        return sync;
    }

    tlm::tlm_sync_enum nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
        const auto transaction = under_way_.find(&payload);
        if (phase == tlm::BEGIN_RESP) payload.set_address(transaction->second.address);
        const tlm::tlm_sync_enum sync = masters[transaction->second.master]->nb_transport_bw(payload, phase, delay);
        if (sync == tlm::TLM_COMPLETED || (sync == tlm::TLM_UPDATED && phase == tlm::END_RESP))
            under_way_.erase(transaction);
        return sync;
    }

    unsigned int transport_dbg(int, tlm::tlm_generic_payload& payload) {
        const std::uint64_t address = payload.get_address();
        const std::size_t slave = decode(address);
        if (slave == ranges_.size()) return 0;
        payload.set_address(address - ranges_[slave].begin);
        const unsigned int bytes = slaves[static_cast<int>(slave)]->transport_dbg(payload);
        payload.set_address(address);
        return bytes;
    }

    bool get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        const std::uint64_t address = payload.get_address();
        const std::size_t slave = decode(address);
        if (slave == ranges_.size()) return false;
        payload.set_address(address - ranges_[slave].begin);
        const bool granted = slaves[static_cast<int>(slave)]->get_direct_mem_ptr(payload, dmi);
        payload.set_address(address);
        dmi.set_start_address(dmi.get_start_address() + ranges_[slave].begin);
        dmi.set_end_address(dmi.get_end_address() + ranges_[slave].begin);
        return granted;
    }

    void invalidate(int slave, sc_dt::uint64 start, sc_dt::uint64 end) {
        const std::uint64_t begin = ranges_[static_cast<std::size_t>(slave)].begin;
        for (unsigned master = 0; master < masters.size(); ++master)
            masters[static_cast<int>(master)]->invalidate_direct_mem_ptr(start + begin, end + begin);
    }

    std::vector<Range> ranges_;
    std::map<const tlm::tlm_generic_payload*, Transaction> under_way_;
};
