// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include "switchyard/hw/task_tile/task_message.h"
#include "switchyard/tlm/clock_period.h"
#include "switchyard/tlm/packet_format.h"
#include "switchyard/tlm/simulation_registry.h"
#include "switchyard/tlm/stat_counters.h"
#include "switchyard/tlm/timed_queue.h"

namespace switchyard::hw {

/// A tile that runs tasks whose tensors lie in memory: it loads the operands of a round, computes, and writes the
/// results, round after round. Nothing is forwarded from tile to tile.
///
/// Sockets: `noc_out`, `noc_in` to the network. Packets: TaskMessage; requests to memory and its replies.
///
/// Modelled: two slots, so that the operands of one round are loaded while another one is computed, and the results of
/// one are written while another one is computed; reads that several tiles need, which the first of them asks for when
/// all others have told it that they have room; packets of a bounded size. A task ends before its last round if the
/// host says so: the tile says how many rounds it has asked for, asks for none until the host has answered, and ends
/// after as many as the host says. The host takes the largest number of a group, so that no read is left over.
/// Not modelled: values, the scratchpad's bytes and ports (the program's rounds must fit), the PE array's cycles (the
/// program states them).
class TaskTile : public sc_core::sc_module {
public:
    struct Config {
        double clock_ghz = 1.0;
        unsigned setup_cycles = 8;  ///< address generation before the first packet of a transfer
        unsigned max_packet_bytes = 65536;
        Endpoint tile = 0, host = 0;
        std::vector<Endpoint> memory;  ///< by interface
        std::uint64_t region_bytes = 1;
    };
    struct Stats {
        std::uint64_t received_bytes = 0, written_bytes = 0;
        std::uint64_t busy_cycles = 0, rounds = 0, packets = 0;
    };
    static constexpr StatCounter<Stats> kCounters[] = {{"received_bytes", "bytes", &Stats::received_bytes},
                                                       {"written_bytes", "bytes", &Stats::written_bytes},
                                                       {"busy_cycles", "cycles", &Stats::busy_cycles},
                                                       {"rounds", "1", &Stats::rounds},
                                                       {"packets", "1", &Stats::packets}};

    tlm_utils::simple_initiator_socket<TaskTile> noc_out;
    tlm_utils::passthrough_target_socket<TaskTile> noc_in;

    TaskTile(const sc_core::sc_module_name& name, Config config, SimulationRegistry& registry);

    const Stats& stats() const { return stats_; }

private:
    using Payload = ::tlm::tlm_generic_payload;
    struct Event {
        enum class Kind : std::uint8_t { computed, arrival } kind = Kind::computed;
        PooledPayload payload;  ///< arrival
    };
    /// A round whose operands are on their way or there.
    struct Load {
        TaskRound round;
        std::vector<bool> asked;    ///< by read
        std::uint64_t missing = 0;  ///< bytes
    };
    /// A round whose results are on their way to memory.
    struct Store {
        std::uint32_t round = 0;
        std::uint64_t missing = 0;  ///< acknowledgements
    };

    void b_transport(Payload& payload, sc_core::sc_time& delay);
    void serve();
    void receive(const Payload& payload);
    void begin(const TaskMessage& message);
    /// Whatever can go on now.
    void advance();
    void open_round();
    /// Asks for the reads of a round for which all readers have room.
    void ask(std::uint32_t round);
    void ask_memory(std::uint32_t round, const TaskRead& read);
    void computed();
    void write(std::uint32_t round, const std::vector<MemoryRun>& runs);
    void send(TaskCommand command, std::uint32_t task, std::uint32_t round, std::uint16_t read, Endpoint to);
    PooledPayload packet(Endpoint to, std::uint64_t payload_bytes);
    void inject(const PooledPayload& packet, bool after_setup);
    std::string waits() const;

    Config config_;
    ClockPeriod clock_;
    TaskPacketPool packets_;
    TimedQueue<Event> events_;
    Stats stats_;

    std::uint32_t task_ = 0;
    std::size_t rank_ = 0;
    std::shared_ptr<const TaskProgram> program_;  ///< none: idle
    std::uint32_t limit_ = 0;                     ///< rounds to run
    std::uint32_t opened_ = 0, computed_ = 0;     ///< rounds
    bool stopping_ = false, computing_ = false;
    std::deque<Load> loads_;    ///< of the rounds [computed_, opened_)
    std::deque<Store> stores_;  ///< in the order of their rounds
    /// Readers that have room, by task, round and read, of reads that this tile asks for.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, unsigned> rooms_;
};

}  // namespace switchyard::hw
