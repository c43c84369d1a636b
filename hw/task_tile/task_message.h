// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tlm>

#include "switchyard/tlm/memory_manager.h"
#include "switchyard/tlm/memory_request.h"

namespace switchyard {

/// Bytes of memory that one tile asks for and that several tiles may get.
struct TaskRead {
    std::vector<MemoryRun> runs;
    std::vector<Endpoint> readers;  ///< the first one asks memory, once all others have told it that they have room

    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (const MemoryRun& run : runs) sum += run.bytes;
        return sum;
    }
};

/// One round of a task on one tile: what it reads, computes and writes.
struct TaskRound {
    std::vector<TaskRead> reads;
    std::uint64_t compute_cycles = 0;
    std::vector<MemoryRun> writes;
};

/// What a group of tiles does for one task, round by round. Every tile has the same number of rounds, and the same
/// rounds of all tiles read together what TaskRead says.
class TaskProgram {
public:
    virtual ~TaskProgram() = default;
    virtual const std::vector<Endpoint>& tiles() const = 0;
    virtual std::uint32_t rounds() const = 0;
    /// Of the tile with this place in tiles(); 0 <= round < rounds().
    virtual TaskRound round(std::size_t rank, std::uint32_t round) const = 0;
};

enum class TaskCommand : std::uint8_t {
    none,     ///< on requests to memory: which round they belong to
    run,      ///< host to tiles: `program`
    stop,     ///< host to tiles: ask for no further round, and say how many have been asked for
    limit,    ///< host to tiles: end after `round` rounds
    stopped,  ///< tile to host: `round` rounds have been asked for
    done,     ///< tile to host: `round` rounds are in memory
    ready     ///< tile to tile: has room for read `read` of round `round`
};

/// What the host and the tiles of a chip that runs tasks say to one another, beside PacketExtension. Neither the
/// network nor memory knows it.
struct TaskMessage : ::tlm::tlm_extension<TaskMessage> {
    TaskCommand command = TaskCommand::none;
    std::uint32_t task = 0;
    std::uint32_t round = 0;
    std::uint16_t read = 0;
    std::shared_ptr<const TaskProgram> program;

    /// Back to the defaults above.
    void reset() {
        command = TaskCommand::none;
        task = round = 0;
        read = 0;
        program.reset();
    }
    ::tlm::tlm_extension_base* clone() const override { return new TaskMessage(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override { *this = static_cast<const TaskMessage&>(other); }
};

using TaskPacketPool = ExtendedPayloadPool<PacketExtension, MemoryExtension, TaskMessage>;

}  // namespace switchyard
