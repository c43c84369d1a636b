// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/host/host_interface.h"
#include "switchyard/testbenches/sim_test.h"
#include "switchyard/testbenches/unit/image/small_image.h"
#include "switchyard/tlm/base_protocol_checker.h"

namespace switchyard::testing {

using Payload = ::tlm::tlm_generic_payload;
namespace regs = hw::host_registers;

inline sc_core::sc_time ns(double count) {
    return {count, sc_core::SC_NS};
}

/// The chip behind the host interface: a network without contention (kNetwork a packet), tiles that decode their
/// programs and answer at once or after `tile_delay`, two memory interfaces.
class FakeChip : public sc_core::sc_module {
public:
    static constexpr unsigned kTiles = 3, kInterfaces = 2;
    static constexpr std::uint64_t kRegion = 1 << 20;
    static constexpr Endpoint kHost = kTiles + kInterfaces;
    static constexpr unsigned kReplyBytes = 4096;  ///< largest data packet
    static constexpr std::uint64_t kNetworkNs = 20, kMemoryNs = 50;

    explicit FakeChip(const sc_core::sc_module_name& name);
    ~FakeChip() override;

    tlm_utils::simple_target_socket<FakeChip> from_host;
    tlm_utils::simple_initiator_socket<FakeChip> to_host;

    struct Started {
        std::uint32_t batch;
        std::uint16_t segment;
        std::vector<Endpoint> tiles;
        sc_core::sc_time time;
    };
    // What has arrived.
    std::map<Endpoint, TileProgram> programs;
    std::vector<Started> starts;
    std::vector<std::uint8_t> hbm = std::vector<std::uint8_t>(kInterfaces * kRegion);
    std::vector<std::uint32_t> write_sizes, config_sizes, read_sizes;
    std::vector<bool> writes_had_values, reads_wanted_values;
    std::vector<sc_core::sc_time> write_times;
    std::vector<ProfileRecord> profile;
    // How it answers.
    std::map<Endpoint, sc_core::sc_time> tile_delay;
    std::set<Endpoint> silent, rejecting;

    /// A packet of the chip's own accord.
    void send_control(Endpoint tile, ControlCode code, std::uint32_t batch, std::uint16_t segment,
                      const sc_core::sc_time& delay);

private:
    struct Item {
        Payload* payload = nullptr;
        bool outgoing = false;
    };
    void b_transport(Payload& payload, sc_core::sc_time& delay);
    void run();
    void arrive(Payload& payload, const PacketExtension& packet);
    void configure(Payload& payload, const PacketExtension& packet);
    void serve_read(Payload& payload, const PacketExtension& packet, const MemoryExtension& request);
    PooledPayload packet(Endpoint source, std::vector<std::uint8_t> values);
    /// From memory.
    PooledPayload reply(MemoryOperation operation, Endpoint source, std::uint32_t tag,
                        std::vector<std::uint8_t> values);
    void send(PooledPayload& packet, const sc_core::sc_time& delay);

    AdynaPacketPool pool_{"fake"};
    TimedQueue<Item> queue_{"queue"};
    std::map<Endpoint, std::vector<std::uint8_t>> windows_;
};

/// Host interface, fake chip, host memory and a driver thread, a base-protocol checker on every link.
class HostRig : public sc_core::sc_module {
public:
    explicit HostRig(const hw::HostInterface::Config& config = {}, const sc_core::sc_module_name& name = "rig");

    /// Runs `driver` as a thread until nothing is left to do.
    void run(std::function<void(HostRig&)> driver);

    // For the driver.
    std::uint32_t read(std::uint64_t offset);
    void write(std::uint64_t offset, std::uint32_t value);
    ::tlm::tlm_response_status access(::tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                      unsigned bytes);
    unsigned debug(::tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned bytes);
    void put_image(const std::vector<std::uint8_t>& bytes, unsigned burst = 1000);
    /// Commits what is in the window and waits for the interrupt; returns IRQ_STATUS, and clears it.
    std::uint32_t commit();
    void load(const Image& image) { put_image(encode(image)), commit(); }
    std::uint32_t wait_for_interrupt();
    void start_dma(std::uint64_t host, std::uint64_t chip, std::uint32_t bytes, std::uint32_t control);
    std::string error_text();

    SimulationRegistry registry;
    FakeChip chip;
    hw::HostInterface host;
    std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 20);
    std::vector<bool> memory_accesses_had_values;
    bool memory_sets_status = true;  ///< false: host memory leaves the response status as it is
    BaseProtocolChecker<> memory_checker{"memory_checker"};
    sc_core::sc_signal<bool> irq{"irq"};

    static constexpr std::uint64_t kMemoryLatencyNs = 100;

private:
    void memory_transport(Payload& payload, sc_core::sc_time& delay);
    void thread();

    BaseProtocolChecker<> config_checker_{"config_checker"}, out_checker_{"out_checker"}, in_checker_{"in_checker"};
    tlm_utils::simple_initiator_socket<HostRig> config_{"config"};
    tlm_utils::simple_target_socket<HostRig> memory_{"memory"};
    std::function<void(HostRig&)> driver_;
};

/// small_image() for the fake chip: a second segment on tile 1, and an idle third tile.
Image host_image();

}  // namespace switchyard::testing
