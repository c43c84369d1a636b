// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/layer_controller/layer_cost.h"
#include "switchyard/hw/messages/dot_product_work.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/extended_payload.h"
#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"

namespace switchyard::hw {

/// Runs SubNets layer by layer on a dot-product array with its buffers and a DRAM port, and keeps a SubGraph in the
/// persistent buffer (SushiAccel, MLSys 2023, sections 4.2.2 and 4.3).
///
/// `commands`: a WRITE of two words (u32, little-endian) to address 0: an operation (Operation) and its argument. It
/// returns when the operation is done; operations follow one another, so a SubGraph that is replaced while a query runs
/// waits for it. `dram`: base protocol, four phases, many requests in flight. The other sockets go to the buffers and
/// the array.
///
/// Stages, by the letters of the paper's Fig. 7 as far as its text names them: A inputs from DRAM to the streaming
/// buffer; B a SubGraph to the persistent buffer; C parameters; D1, D2 distinct weights to the halves of the dynamic
/// buffer, while the array computes (F, G, J, K); L results to DRAM. The figure is not in the text; E, H and I are
/// within the array here.
/// - `analytic`: layer_cost(); values move, if they do, without time of their own.
/// - `cycle`: fetching, computing and writing side by side, over the DRAM's model and the array's cycles.
///
/// Modelled: bands of input rows where the streaming buffer cannot hold a layer's, two halves of the dynamic buffer and
/// of the output buffer, all traffic of weights, parameters, inputs, residuals and results; a bank of the output buffer
/// is free when memory has taken its results. Activations go through DRAM between layers (section 4.2.2: results are
/// sent off-chip). Not modelled: the controller's own descriptors and their traffic, pooling between layers (results
/// are written whole, the next layer reads what is left), control latency, prefetching of the next layer's first tile.
/// Errors: an unknown operation, SubNet or SubGraph, a layer that the buffers cannot serve, a SubGraph larger than the
/// persistent buffer: TLM_GENERIC_ERROR_RESPONSE, cause in the registry. Memory that refuses an access, and an array in
/// RTL that differs, end the run (ModelError).
class LayerController : public sc_core::sc_module {
public:
    enum Operation : std::uint32_t { kServe = 1, kCache = 2 };

    struct Config {
        std::string impl = "analytic";
        bool has_values = false;
        AcceleratorShape shape;
        unsigned request_bytes = 2048;  ///< the largest request to DRAM
        double clock_ghz = 0.1;
    };
    struct Stats {
        std::uint64_t queries = 0, fills = 0;
        std::uint64_t input_bytes = 0;      ///< stage A and residuals
        std::uint64_t subgraph_bytes = 0;   ///< stage B
        std::uint64_t parameter_bytes = 0;  ///< stage C
        std::uint64_t weight_bytes = 0;     ///< stages D1, D2
        std::uint64_t output_bytes = 0;     ///< stage L
        std::uint64_t serve_cycles = 0, fill_cycles = 0;
    };
    static constexpr StatCounter<Stats> kCounters[] = {{"queries", "1", &Stats::queries},
                                                       {"fills", "1", &Stats::fills},
                                                       {"input_bytes", "bytes", &Stats::input_bytes},
                                                       {"subgraph_bytes", "bytes", &Stats::subgraph_bytes},
                                                       {"parameter_bytes", "bytes", &Stats::parameter_bytes},
                                                       {"weight_bytes", "bytes", &Stats::weight_bytes},
                                                       {"output_bytes", "bytes", &Stats::output_bytes},
                                                       {"serve_cycles", "cycles", &Stats::serve_cycles},
                                                       {"fill_cycles", "cycles", &Stats::fill_cycles}};

    tlm_utils::simple_target_socket<LayerController> commands;
    tlm_utils::simple_initiator_socket<LayerController> dram, array, persistent, dynamic, streaming, parameters, output;

    LayerController(const sc_core::sc_module_name& name, const Config& config, SimulationRegistry& registry);

    /// Before the first command.
    void load(AcceleratorProgram program) { program_ = std::move(program); }
    const AcceleratorProgram& program() const { return program_; }
    const Stats& stats() const { return stats_; }
    /// Cycles of each layer of the last query.
    const std::vector<std::uint64_t>& layer_cycles() const { return layer_cycles_; }

private:
    using Socket = tlm_utils::simple_initiator_socket<LayerController>;
    using Payload = ::tlm::tlm_generic_payload;
    /// Requests of one access() that are not done. A write is done when the memory has taken it.
    struct Access {
        std::size_t left = 0;
        sc_core::sc_event done;
    };
    struct Job;

    static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

    void b_transport(Payload& payload, sc_core::sc_time& delay);
    /// Closed form of a SubNet with what is cached.
    const std::vector<LayerCost>& costs(std::uint32_t subnet);
    void serve(std::uint32_t subnet);
    void cache(std::uint32_t subgraph);
    sched::WeightSlice cached_slice(std::uint32_t tensor) const;
    sched::LayerPlan plan(const LayerProgram& layer, const sched::WeightSlice& cached) const;
    void run_layer(Job& job);

    void fetch();
    void write();
    void fetch_unit(Job& job, std::size_t unit);
    void compute_unit(Job& job, std::size_t unit);
    void write_unit(Job& job, std::size_t unit);
    template <class Condition>
    void wait_until(Condition condition) {
        while (!condition()) wait(progress_);
    }

    /// Moves bytes between DRAM and `data`, which has as many as the pieces or is empty (sizes only); with time if
    /// `timed`.
    void access(bool writes, const std::vector<StridedPieces>& pieces, std::vector<std::uint8_t>& data);
    void access_debug(bool writes, const std::vector<StridedPieces>& pieces, std::vector<std::uint8_t>& data);
    void access_buffer(Socket& socket, bool writes, std::uint64_t address, std::vector<std::uint8_t>& data);
    void send_requests();
    ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
    void accepted(Payload& payload);
    void complete(Payload& payload);

    bool timed() const { return config_.impl == "cycle"; }
    std::uint64_t cycles_since(const sc_core::sc_time& begin) const;

    Config config_;
    ClockPeriod clock_;
    SimulationRegistry& registry_;
    AcceleratorProgram program_;
    std::uint32_t subgraph_ = kNothing;
    std::vector<std::uint64_t> persistent_addresses_;  ///< of the tensors' slices
    std::vector<std::uint64_t> layer_cycles_;
    ExtendedPayload<DotProductWorkExtension> work_;
    Job* job_ = nullptr;
    sc_core::sc_event progress_, job_begins_;

    PayloadPool payloads_;
    std::deque<std::pair<Payload*, Access*>> requests_;  ///< not yet sent
    std::map<Payload*, Access*> in_flight_;              ///< null: nobody waits
    std::string refusal_;                                ///< of the first access that DRAM refuses
    Payload* requesting_ = nullptr;                      ///< BEGIN_REQ without END_REQ
    sc_core::sc_event send_, in_memory_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<LayerCost>> costs_;
    Stats stats_;
};

}  // namespace switchyard::hw
