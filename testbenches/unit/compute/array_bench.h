#pragma once

#include <cstdint>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/extended_payload.h"

namespace switchyard::testing {

/// A PE array and its scratchpad alone, with a base-protocol checker on both links. Elaboration ends with the first
/// command.
class ArrayBench : public sc_core::sc_module {
public:
    explicit ArrayBench(sc_core::sc_module_name module_name, const hw::PeArray::Config& array = {},
                        const hw::Scratchpad::Config& store = {})
        : sc_module(module_name), scratchpad("scratchpad", store, registry), pe_array("pe_array", array, registry) {
        command_.bind(command_checker_.target_socket);
        command_checker_.initiator_socket.bind(pe_array.command);
        pe_array.scratchpad.bind(scratchpad_checker_.target_socket);
        scratchpad_checker_.initiator_socket.bind(scratchpad.pe_array);
        network_.bind(scratchpad.network_interface);
        dispatcher_.bind(scratchpad.dispatcher);
        controller_.bind(scratchpad.controller);
    }

    /// Runs `work` after all that came before; fills in its results.
    ::tlm::tlm_response_status run(PeWorkExtension& work) {
        if (sc_core::sc_get_status() == sc_core::SC_ELABORATION) sc_core::sc_start(sc_core::SC_ZERO_TIME);
        work.input_offset = work.weight_offset = work.output_offset =
            static_cast<std::uint32_t>(scratchpad.kernel_region_bytes());
        ExtendedPayload<PeWorkExtension> payload;
        payload.extension() = work;
        ::tlm::tlm_generic_payload& transaction = payload.fresh();
        command_->b_transport(transaction, delay);
        work = payload.extension();
        return transaction.get_response_status();
    }

    SimulationRegistry registry;
    hw::Scratchpad scratchpad;
    hw::PeArray pe_array;
    sc_core::sc_time delay;

private:
    BaseProtocolChecker<> command_checker_{"command_checker"}, scratchpad_checker_{"scratchpad_checker"};
    tlm_utils::simple_initiator_socket<ArrayBench> command_{"command"}, network_{"network"}, dispatcher_{"dispatcher"},
        controller_{"controller"};
};

}  // namespace switchyard::testing
