// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/cluster.h"

#include <algorithm>

#include <fmt/format.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include "switchyard/platform/system/no_progress.h"
#include "switchyard/tlm/has_process.h"

namespace switchyard::platform::brainstorm {

using sched::brainstorm::BatchProgram;

namespace {

/// Host memory that copies read and write. What is written is not kept; what is read names the load that it is for, in
/// functional runs.
class HostPages : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<HostPages> socket{"socket"};

    HostPages(const sc_core::sc_module_name& module_name, bool functional)
        : sc_module(module_name), functional_(functional) {
        socket.register_b_transport(this, &HostPages::b_transport);
    }

private:
    void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
        if (functional_ && payload.is_read()) {
            const std::uint64_t word = WeightContents::word_at(payload.get_address());
            unsigned char* const data = payload.get_data_ptr();
            for (unsigned i = 0; i < payload.get_data_length(); ++i)
                data[i] = static_cast<unsigned char>(word >> 8 * ((payload.get_address() + i) % 8));
        }
        payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    }

    bool functional_;
};

/// A GPU with its host.
struct Node {
    Node(unsigned number, const BrainstormConfig& config, std::uint32_t ring_packets, SimulationRegistry& registry)
        : device(fmt::format("gpu_{}", number).c_str(), config.gpu, registry),
          access(fmt::format("access_{}", number).c_str(), registry),
          pages(fmt::format("pages_{}", number).c_str(), config.mechanisms.functional),
          host(fmt::format("host_{}", number).c_str(), access, config.host, config.mechanisms.speculation_depth,
               ring_packets, registry),
          irq(fmt::format("irq_{}", number).c_str()) {
        access.link.bind(device.from_host);
        device.to_host.bind(pages.socket);
        device.irq.bind(irq);
    }
    GpuDevice device;
    DeviceAccess access;
    HostPages pages;
    DeviceHost host;
    sc_core::sc_signal<bool> irq;
};

class Cluster : public sc_core::sc_module {
public:
    Cluster(const sc_core::sc_module_name& module_name, const BrainstormConfig& config,
            const std::vector<BatchProgram>& batches, std::uint64_t cells_of_device)
        : sc_module(module_name), batches_(batches), cells_of_device_(cells_of_device) {
        const unsigned devices = config.links.devices;
        std::uint64_t packets = 0;
        for (const BatchProgram& batch : batches)
            for (const auto& steps : batch.devices)
                packets = std::max(packets, 2 * sched::brainstorm::packets_of(steps));
        std::uint32_t ring_packets = 64;
        while (ring_packets < packets) ring_packets *= 2;
        if (devices > 1)
            exchange_ = std::make_unique<PeerExchange>("exchange", config.topology, config.links.messages, registry_);
        for (unsigned d = 0; d < devices; ++d) {
            nodes_.push_back(std::make_unique<Node>(d, config, ring_packets, registry_));
            Node& node = *nodes_.back();
            if (exchange_) exchange_->memories[d].bind(node.device.from_peers);
            if (config.mechanisms.collective_ctas > 0) hold_collectives(d);
            node.device.gpu().set_hooks([this, d](const hw::KernelLaunch& launch) { look_at_weights(d, launch); },
                                        [this, d](const hw::KernelLaunch& launch) { completed(d, launch); });
        }
        SWITCHYARD_HAS_PROCESS(Cluster);
        SC_THREAD(run);
    }

    bool finished() const { return outcome_.us.size() == batches_.size(); }
    const SimulationRegistry& registry() const { return registry_; }
    ClusterOutcome outcome() const;

private:
    void completed(unsigned device, const hw::KernelLaunch& launch) {
        nodes_[device]->host.note_progress();
        look_at_weights(device, launch);
        ++outcome_.kernels;
        if (holds_collectives_ || !is_collective(launch)) return;
        exchange_->enter(collective_of(launch), device);
    }

    void look_at_weights(unsigned device, const hw::KernelLaunch& launch) {
        Node& node = *nodes_[device];
        node.host.weights().look(launch.packet.tag, [&node](std::uint64_t address) {
            std::uint64_t word = 0;
            node.device.read_memory(address, &word, sizeof word);
            return word;
        });
    }

    static bool is_collective(const hw::KernelLaunch& launch) {
        return launch.packet.tag >= DeviceHost::kCollectiveTag;
    }
    static std::uint32_t collective_of(const hw::KernelLaunch& launch) {
        return static_cast<std::uint32_t>(launch.packet.tag - DeviceHost::kCollectiveTag);
    }

    /// A collective's kernel enters it when all of its CTAs are there, and ends with it.
    void hold_collectives(unsigned device) {
        holds_collectives_ = true;
        nodes_[device]->device.gpu().set_holds(is_collective, [this, device](const hw::KernelLaunch& launch) {
            exchange_->enter(collective_of(launch), device);
        });
        if (device > 0) return;
        exchange_->set_ended([this](std::uint32_t collective, unsigned ended) {
            nodes_[ended]->device.gpu().release(DeviceHost::kCollectiveTag + collective);
        });
    }

    void run() {
        for (auto& node : nodes_) node->host.set_up_queues();
        std::uint64_t collectives = 0;
        for (std::size_t b = 0; b < batches_.size(); ++b) {
            const BatchProgram& batch = batches_[b];
            const bool functional = exchange_ && !batch.ends.empty();
            if (functional) contents_.begin(batch, nodes_.size(), cells_of_device_);
            if (exchange_)
                exchange_->begin(batch.collectives, nodes_.front()->host.collective_word(), collectives + 1,
                                 functional ? &contents_ : nullptr);
            std::vector<double> us(nodes_.size());
            std::vector<sc_core::sc_process_handle> hosts;
            for (std::size_t d = 0; d < nodes_.size(); ++d)
                hosts.push_back(sc_core::sc_spawn([this, &us, &batch, b, d, collectives] {
                    us[d] = nodes_[d]->host.run(batch.devices[d], b + 1, collectives);
                }));
            for (sc_core::sc_process_handle& host : hosts)
                if (!host.terminated()) wait(host.terminated_event());
            if (functional) contents_.end();
            collectives += batch.collectives.size();
            outcome_.us.push_back(*std::max_element(us.begin(), us.end()));
            outcome_.device_us.push_back(us);
        }
        outcome_.run_ns = sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
    }

    const std::vector<BatchProgram>& batches_;
    std::uint64_t cells_of_device_;
    CellContents contents_;
    SimulationRegistry registry_;
    std::unique_ptr<PeerExchange> exchange_;
    std::vector<std::unique_ptr<Node>> nodes_;
    bool holds_collectives_ = false;
    ClusterOutcome outcome_;
};

ClusterOutcome Cluster::outcome() const {
    ClusterOutcome outcome = outcome_;
    for (const auto& node : nodes_) {
        const hw::Multiprocessors::Stats& stats = node->device.gpu().multiprocessors().stats();
        outcome.ctas += stats.ctas;
        outcome.busy_ns += stats.busy_ns;
        outcome.warp_ns += stats.warp_ns;
        const DeviceHost::Stats& host = node->host.stats();
        outcome.host.launches += host.launches;
        outcome.host.read_backs += host.read_backs;
        outcome.host.loads += host.loads;
        outcome.host.rollbacks += host.rollbacks;
        outcome.host.abandoned_steps += host.abandoned_steps;
        const WeightContents::Result weights = node->host.weights().result();
        outcome.weights.kernels += weights.kernels;
        outcome.weights.in_place += weights.in_place;
        outcome.weights.in_vain += weights.in_vain;
    }
    if (exchange_) {
        outcome.exchange = exchange_->stats();
        outcome.contents = contents_.result();
        // Channels are counted from the start on; batches follow each other.
        for (unsigned c = 0; c < exchange_->channels(); ++c)
            outcome.channel_bytes.push_back(exchange_->channel_bytes(c));
    }
    return outcome;
}

}  // namespace

ClusterOutcome run_cluster(const BrainstormConfig& config, const std::vector<BatchProgram>& batches,
                           std::uint64_t cells_of_device) {
    const Cluster cluster("cluster", config, batches, cells_of_device);
    sc_core::sc_start();
    if (!cluster.finished()) throw no_progress(cluster.registry());
    return cluster.outcome();
}

}  // namespace switchyard::platform::brainstorm
