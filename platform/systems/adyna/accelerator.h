// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/platform/chip/platform_config.h"

namespace switchyard {

class SimulationRegistry;
using platform::PlatformConfig;

/// The whole accelerator as one module of somebody else's virtual prototype (docs/integration.md): two sockets and two
/// signals, with whatever `chip.impl` the platform names behind them. Included as <switchyard/accelerator.h>.
///
/// Any number of accelerators, with different configurations, live in one simulation: they share nothing. An idle one
/// has no event pending. Nothing is printed; what happens is reported through SC_REPORT as SC_INFO of verbosity SC_HIGH
/// with the types switchyard/host_interface/{image,batch,reset,error}.
/// A model error (a request that the models cannot serve) leaves sc_start as SystemC's report "uncaught exception" with
/// the module's name, the time and the reason.
class Accelerator : public sc_core::sc_module {
    struct Inside;
    std::unique_ptr<Inside> inside_;

public:
    /// Memory-mapped: registers, image window, profiles (docs/registers.md). LT with temporal decoupling, AT, DMI of
    /// the image window, debug transport of everything at any time. 32 bits wide; any address, length and byte enables.
    tlm_utils::simple_target_socket<hw::HostInterface>& config_socket;
    /// DMA of the host's memory: b_transport from a thread, bursts of up to `host.dma_chunk_bytes`.
    tlm_utils::simple_initiator_socket<hw::HostInterface>& host_socket;
    /// High while an enabled bit of IRQ_STATUS is set.
    sc_core::sc_out<bool> irq;
    /// Active high, asynchronous. Registers go back to their reset values, the image is forgotten, work under way ends
    /// without a trace; HBM and the image window keep their contents. Every access to `config_socket` in
    /// reset is answered with TLM_GENERIC_ERROR_RESPONSE. What an access after it starts begins when the chip's units
    /// have come to rest.
    sc_core::sc_in<bool> reset;

    Accelerator(const sc_core::sc_module_name& name, const PlatformConfig& platform);
    ~Accelerator() override;

    /// Counters of every unit by name, and what waits for what.
    const SimulationRegistry& registry() const;
    /// One line about what ERROR says; empty if nothing is wrong.
    const std::string& last_error_text() const;
};

}  // namespace switchyard
