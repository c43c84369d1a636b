#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/sw_scheduler/formats/kernel.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/extended_payload.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/tile_protocol.h"

namespace switchyard::hw {

/// The kernel dispatcher of a tile (Adyna section VI-B): picks the stored kernel with the smallest dyn_dim that is no
/// less than the real one, runs the template loop nest for this tile's part of the operator, skips blocks beyond the
/// real dyn_dim (kernel fitting), then hands the output to the network interface.
///
/// `configure`: a 32-bit WRITE of the number of kernels at address 0 makes it read that many from the beginning of the
/// scratchpad and rebuild its directory of dyn_dims. A READ returns the number. No other address.
/// Modelled: binary search in the directory, ceil(log2 n) + 1 cycles; the fetch of the picked kernel's 128 bytes, which
/// are checked and decoded as they come; one block issued a cycle, hidden behind the PE array. Two implementations with
/// the same results: `analytic` issues one command for each distinct block shape (at most 16), `walk` is the state
/// machine that visits every block in the kernel's order and issues one command a block.
/// Accuracy: exact, given the PE array's cycles. Skipped blocks cost nothing: indices only grow, so a loop ends at the
/// first one beyond its bound.
/// Not modelled: the address generator's addresses (operand bursts carry the base offsets).
/// Errors (TLM_GENERIC_ERROR_RESPONSE, cause in SimulationRegistry::errors()): no kernel is large enough, a kernel with
/// a bad checksum, one that the array refuses or that does not cover its operator, unsorted or missing kernels.
class KernelDispatcher : public sc_core::sc_module {
public:
    struct Config {
        std::string impl = "analytic";
        double clock_ghz = 1.0;  ///< the chip's, set by the composer
    };
    struct Stats {
        std::uint64_t dispatches = 0;
        std::vector<std::uint64_t> kernels_picked;  ///< times, index = position in the kernel store
        std::uint64_t blocks_issued = 0, blocks_skipped = 0;
        std::uint64_t search_cycles = 0;
        std::uint64_t none_found = 0;  ///< dispatches with a dyn_dim beyond every kernel
    };

    tlm_utils::simple_target_socket<KernelDispatcher> dispatch;   ///< DispatchExtension
    tlm_utils::simple_target_socket<KernelDispatcher> configure;  ///< number of kernels
    tlm_utils::simple_initiator_socket<KernelDispatcher> scratchpad, pe_array, network_interface;

    /// Throws ModelError for an implementation that does not exist.
    KernelDispatcher(sc_core::sc_module_name name, const Config& config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    /// A kernel as last fetched, and what `analytic` worked out for it.
    struct Entry {
        KernelBytes bytes{};
        Kernel kernel;
        NestCache plans;
    };

    void transport_dispatch(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void transport_configure(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned debug_configure(::tlm::tlm_generic_payload& payload);

    void clear();
    void rebuild(std::uint32_t kernels, sc_core::sc_time& delay);
    /// Position of the best fit in the kernel store.
    std::uint32_t search(const DispatchExtension& request, sc_core::sc_time& delay);
    /// Reads the kernel as a real dispatcher would, and checks that it is still the one that was configured.
    void fetch(std::uint32_t index, sc_core::sc_time& delay);
    void read_kernel(std::uint32_t index, KernelBytes& bytes, sc_core::sc_time& delay);
    /// Search, fetch and template nest; fills in the request's results.
    void execute(DispatchExtension& request, sc_core::sc_time& delay);
    void run_closed_form(Entry& entry, DispatchExtension& request, sc_core::sc_time& delay);
    void run_walk(const Entry& entry, DispatchExtension& request, sc_core::sc_time& delay);
    void issue(const BlockShape& shape, std::uint64_t repeats, bool first, bool last, DispatchExtension& request,
               sc_core::sc_time& delay);
    void send(const DispatchExtension& request, sc_core::sc_time& delay);
    void refuse(::tlm::tlm_generic_payload& payload, ::tlm::tlm_response_status status, const std::string& why);

    Config config_;
    SimulationRegistry& registry_;
    ClockPeriod clock_;
    bool walk_;
    std::vector<Entry> entries_;           ///< the directory, in the order of the kernel store
    std::vector<std::uint16_t> dyn_dims_;  ///< what the search looks at
    /// Where the strictly growing run of dyn_dims begins that ends at each kernel: says whether a range is sorted.
    std::vector<std::uint32_t> run_begins_;
    ::tlm::tlm_generic_payload fetch_;
    ExtendedPayload<PeWorkExtension> work_;
    ExtendedPayload<SendExtension> send_;
    Stats stats_;
};

template <class V>
void describe(V& v, KernelDispatcher::Config& c) {
    v.choice("impl", c.impl, {"analytic", "walk"}, "how the template loop nest is run; results are the same");
}

}  // namespace switchyard::hw
