// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/tlm/base_protocol_checker.h"
#include "switchyard/tlm/extended_payload.h"

namespace switchyard::testing {

struct ComputeConfig {
    hw::Scratchpad::Config scratchpad;
    hw::PeArray::Config pe_array;
    hw::KernelDispatcher::Config dispatcher;
    decltype(&hw::make_kernel_dispatcher) make_dispatcher = &hw::make_kernel_dispatcher;
};

/// Scratchpad, PE array and dispatcher of one tile, with the controller and the network interface played by the test
/// and a base-protocol checker on every link. Call `sc_core::sc_start(sc_core::SC_ZERO_TIME)` before the first access.
class ComputeBench : public sc_core::sc_module {
public:
    struct Sent {
        SendExtension what;
        std::uint64_t cycle;
    };
    struct Reply {
        ::tlm::tlm_response_status status;
        std::uint64_t cycles;  ///< that the access took
    };

    ComputeBench(sc_core::sc_module_name module_name, const ComputeConfig& config)
        : sc_module(module_name),
          scratchpad("scratchpad", config.scratchpad, registry),
          pe_array_owner_(hw::make_pe_array("pe_array", config.pe_array, registry)),
          dispatcher_owner_(config.make_dispatcher("dispatcher", config.dispatcher, registry)),
          pe_array(*pe_array_owner_),
          dispatcher(*dispatcher_owner_),
          clock(config.scratchpad.clock_ghz) {
        join(pe_array.scratchpad, pe_scratchpad_, scratchpad.pe_array);
        join(dispatcher.scratchpad, dispatcher_scratchpad_, scratchpad.dispatcher);
        join(dispatcher.pe_array, dispatcher_pe_, pe_array.command);
        join(dispatcher.network_interface, dispatcher_network_, network_interface_);
        join(controller_dispatch_, dispatch_, dispatcher.dispatch);
        join(controller_configure_, configure_, dispatcher.configure);
        join(controller, controller_scratchpad_, scratchpad.controller);
        join(network, network_scratchpad_, scratchpad.network_interface);
        network_interface_.register_b_transport(this, &ComputeBench::take);
    }

    Reply dispatch(DispatchExtension& request) {
        ExtendedPayload<DispatchExtension> payload;
        payload.extension() = request;
        const Reply reply = transport(controller_dispatch_, payload.fresh());
        request = payload.extension();
        return reply;
    }
    Reply configure(std::uint32_t kernels) {
        return access(controller_configure_, ::tlm::TLM_WRITE_COMMAND, 0, &kernels, sizeof kernels);
    }
    /// Writes the kernels to the store and tells the dispatcher.
    Reply load(const std::vector<Kernel>& kernels) {
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            KernelBytes bytes = encode(kernels[i]);
            access(controller, ::tlm::TLM_WRITE_COMMAND, i * kKernelBytes, bytes.data(), kKernelBytes);
        }
        return configure(static_cast<std::uint32_t>(kernels.size()));
    }
    template <class Socket>
    Reply access(Socket& socket, ::tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
        ::tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        return transport(socket, payload);
    }
    template <class Socket>
    Reply transport(Socket& socket, ::tlm::tlm_generic_payload& payload) {
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        return {payload.get_response_status(), clock.count(delay)};
    }

    SimulationRegistry registry;
    hw::Scratchpad scratchpad;

private:
    std::unique_ptr<hw::PeArray> pe_array_owner_;
    std::unique_ptr<hw::KernelDispatcher> dispatcher_owner_;

public:
    hw::PeArray& pe_array;
    hw::KernelDispatcher& dispatcher;
    ClockPeriod clock;
    tlm_utils::simple_initiator_socket<ComputeBench> controller{"controller"}, network{"network"};
    tlm_utils::simple_initiator_socket<ComputeBench>& configure_socket() { return controller_configure_; }
    std::vector<Sent> sent;
    bool refuse_sends = false;

private:
    template <class Initiator, class Target>
    static void join(Initiator& initiator, BaseProtocolChecker<>& checker, Target& target) {
        initiator.bind(checker.target_socket);
        checker.initiator_socket.bind(target);
    }
    void take(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        sent.push_back({*payload.get_extension<SendExtension>(), clock.count(delay)});
        payload.set_response_status(refuse_sends ? ::tlm::TLM_GENERIC_ERROR_RESPONSE : ::tlm::TLM_OK_RESPONSE);
    }

    tlm_utils::simple_initiator_socket<ComputeBench> controller_dispatch_{"controller_dispatch"},
        controller_configure_{"controller_configure"};
    tlm_utils::simple_target_socket<ComputeBench> network_interface_{"network_interface"};
    BaseProtocolChecker<> pe_scratchpad_{"pe_scratchpad"}, dispatcher_scratchpad_{"dispatcher_scratchpad"},
        dispatcher_pe_{"dispatcher_pe"}, dispatcher_network_{"dispatcher_network"}, dispatch_{"dispatch"},
        configure_{"configure"}, controller_scratchpad_{"controller_scratchpad"},
        network_scratchpad_{"network_scratchpad"};
};

/// A fully connected layer on one tile: dyn_dim x channels outputs, each the sum of `reduction` products, in blocks of
/// pe_rows x pe_columns with one output a PE.
inline Kernel gemm_kernel(unsigned dyn_dim, unsigned channels, unsigned reduction, unsigned pe_rows,
                          unsigned pe_columns) {
    const auto u16 = [](unsigned value) { return static_cast<std::uint16_t>(value); };
    const auto trips = [&](unsigned size, unsigned block) { return u16((size + block - 1) / block); };
    Kernel kernel;
    kernel.total = {u16(dyn_dim), u16(channels), u16(reduction), 1, 1, 1, 1};
    kernel.loop(Level::pe, Dim::n).block = u16(pe_rows);
    kernel.loop(Level::pe, Dim::k).block = u16(pe_columns);
    kernel.loop(Level::spm, Dim::n).block = trips(dyn_dim, pe_rows);
    kernel.loop(Level::spm, Dim::k).block = trips(channels, pe_columns);
    kernel.loop(Level::spm, Dim::c).block = u16(reduction);
    return kernel;
}

}  // namespace switchyard::testing
