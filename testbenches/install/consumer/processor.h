// SPDX-License-Identifier: Apache-2.0
// A processor of somebody else's, as far as a bus sees it: loads and stores, with a quantum or by nb_transport.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>

class Processor : public sc_core::sc_module, tlm::tlm_mm_interface {
public:
    tlm_utils::simple_initiator_socket<Processor> bus;
    sc_core::sc_in<bool> interrupt;

    Processor(const sc_core::sc_module_name& name, bool by_phases, std::function<void(Processor&)> software)
        : sc_module(name), bus("bus"), interrupt("interrupt"), by_phases_(by_phases), software_(std::move(software)) {
        bus.register_nb_transport_bw(this, &Processor::nb_transport_bw);
        SC_HAS_PROCESS(Processor);
        SC_THREAD(run);
    }

    std::uint32_t load(std::uint64_t address) {
        unsigned char data[4];
        access(tlm::TLM_READ_COMMAND, address, data, sizeof data);
        return data[0] | data[1] << 8 | data[2] << 16 | std::uint32_t{data[3]} << 24;
    }
    void store(std::uint64_t address, std::uint32_t value) {
        unsigned char data[4];
        for (unsigned i = 0; i < 4; ++i) data[i] = static_cast<unsigned char>(value >> 8 * i);
        access(tlm::TLM_WRITE_COMMAND, address, data, sizeof data);
    }
    void access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned length) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(data);
        payload.set_data_length(length);
        payload.set_streaming_width(length);
        if (by_phases_) {
            payload.set_mm(this);
            payload.acquire();
            access_by_phases(payload);
            payload.release();
        } else {
            sc_core::sc_time local = keeper_.get_local_time();
            bus->b_transport(payload, local);
            keeper_.set(local);
            if (keeper_.need_sync()) keeper_.sync();
        }
        if (payload.is_response_error())
            throw std::runtime_error("bus error at " + std::to_string(address) + ": " + payload.get_response_string());
    }
    void wait_for_interrupt() {
        keeper_.sync();
        while (!interrupt.read()) wait(interrupt.posedge_event());
    }

private:
    void run() {
        keeper_.reset();
        software_(*this);
    }
    void access_by_phases(tlm::tlm_generic_payload& payload) {
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_core::sc_time delay;
        responded_ = false;
        const tlm::tlm_sync_enum sync = bus->nb_transport_fw(payload, phase, delay);
        if (sync == tlm::TLM_COMPLETED) return wait(delay);
        while (!responded_) wait(response_);
        phase = tlm::END_RESP;
        delay = sc_core::SC_ZERO_TIME;
        bus->nb_transport_fw(payload, phase, delay);
        wait(1, sc_core::SC_NS);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
        if (phase == tlm::BEGIN_RESP) {
            responded_ = true;
            response_.notify(delay);
        }
        return tlm::TLM_ACCEPTED;
    }
    void free(tlm::tlm_generic_payload* payload) override { payload->set_mm(nullptr); }

    bool by_phases_;
    std::function<void(Processor&)> software_;
    tlm_utils::tlm_quantumkeeper keeper_;
    bool responded_ = false;
    sc_core::sc_event response_;
};
