// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/extended_payload.h"

namespace switchyard::testing {

/// A PE array and its scratchpad alone, with a base-protocol checker on both links. Elaboration ends with the first
/// command.
class ArrayBench : public sc_core::sc_module {
public:
    explicit ArrayBench(sc_core::sc_module_name module_name, const hw::PeArray::Config& array = {},
                        const hw::Scratchpad::Config& store = {},
                        decltype(&hw::make_pe_array) make_pe_array = &hw::make_pe_array)
        : sc_module(module_name),
          scratchpad("scratchpad", store, registry),
          pe_array_owner_(make_pe_array("pe_array", array, registry)),
          pe_array(*pe_array_owner_) {
        command_.bind(command_checker_.target_socket);
        command_checker_.initiator_socket.bind(pe_array.command);
        pe_array.scratchpad.bind(scratchpad_checker_.target_socket);
        scratchpad_checker_.initiator_socket.bind(scratchpad.pe_array);
        network_.bind(scratchpad.network_interface);
        dispatcher_.bind(scratchpad.dispatcher);
        controller_.bind(scratchpad.controller);
    }

    /// Runs `work` after all that came before; fills in its results. Sizes only: its operands lie in the data area.
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

    /// Binary16 elements in the scratchpad, in no time.
    void poke(std::uint64_t address, std::vector<std::uint16_t> values) {
        REQUIRE(debug(::tlm::TLM_WRITE_COMMAND, address, values) == 2 * values.size());
    }
    std::vector<std::uint16_t> peek(std::uint64_t address, std::size_t count) {
        std::vector<std::uint16_t> values(count);
        REQUIRE(debug(::tlm::TLM_READ_COMMAND, address, values) == 2 * count);
        return values;
    }

    SimulationRegistry registry;
    hw::Scratchpad scratchpad;

private:
    std::unique_ptr<hw::PeArray> pe_array_owner_;

public:
    hw::PeArray& pe_array;
    sc_core::sc_time delay;

private:
    unsigned debug(::tlm::tlm_command command, std::uint64_t address, std::vector<std::uint16_t>& values) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(values.data()));
        payload.set_data_length(static_cast<unsigned>(2 * values.size()));
        payload.set_streaming_width(payload.get_data_length());
        return network_->transport_dbg(payload);
    }

    BaseProtocolChecker<> command_checker_{"command_checker"}, scratchpad_checker_{"scratchpad_checker"};
    tlm_utils::simple_initiator_socket<ArrayBench> command_{"command"}, network_{"network"}, dispatcher_{"dispatcher"},
        controller_{"controller"};
};

}  // namespace switchyard::testing
