// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/brainstorm/cell_contents.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform::brainstorm {

using sched::brainstorm::CellMoves;

namespace {

constexpr std::uint64_t kNumberBytes = 8;

std::uint64_t word_at(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// The bytes from `from` on of a cell that begins with `number`.
void fill(std::vector<std::uint8_t>& cell, std::size_t from, std::uint64_t number) {
    for (std::size_t i = from; i < cell.size(); ++i)
        cell[i] = i < kNumberBytes ? static_cast<std::uint8_t>(number >> (8 * i))
                                   : static_cast<std::uint8_t>((number * 0x9e3779b97f4a7c15 + i * 0x85ebca6b) >> 24);
}

}  // namespace

void CellContents::begin(const sched::brainstorm::BatchProgram& batch, std::size_t devices,
                         std::uint64_t cells_of_device) {
    for (const CellMoves& moves : batch.moves)
        if (moves.cell_bytes < kNumberBytes)
            throw InputError("--set", 0, "brainstorm.functional",
                             fmt::format("expected cells of {} bytes or more, which hold their number, found {}",
                                         kNumberBytes, moves.cell_bytes));
    batch_ = &batch;
    held_.assign(devices, {});
    const std::uint64_t bytes = batch.moves.empty() ? kNumberBytes : batch.moves.front().cell_bytes;
    for (std::uint64_t cell = 0; cell < devices * cells_of_device; ++cell) {
        Bytes contents(bytes);
        fill(contents, 0, cell + 1);
        held_[cell / cells_of_device][cell].push_back(std::move(contents));
    }
}

std::vector<std::uint8_t> CellContents::pack(std::uint32_t collective, std::size_t device) {
    const CellMoves& moves = batch_->moves.at(collective);
    auto& held = held_[device];
    std::vector<std::uint8_t> buffer(batch_->collectives.at(collective).buffer_bytes);
    std::map<std::uint64_t, std::size_t> taken;  // copies of each cell
    for (std::size_t to = 0; to < moves.cells[device].size(); ++to) {
        const std::vector<std::uint64_t>& cells = moves.cells[device][to];
        if (moves.sparse) {
            const std::uint64_t count = cells.size();
            std::memcpy(buffer.data() + moves.sizes_sent + kNumberBytes * to, &count, sizeof count);
        }
        std::uint64_t at = moves.send[device][to];
        for (const std::uint64_t cell : cells) {
            const auto found = held.find(cell);
            // A cell that is not here leaves a gap, which end() finds.
            if (found != held.end()) {
                // To several branches go copies of one cell; of several results each goes once.
                Bytes contents = found->second[std::min(taken[cell]++, found->second.size() - 1)];
                const std::size_t before = contents.size();
                contents.resize(moves.cell_bytes);
                if (before < contents.size()) fill(contents, before, word_at(contents.data()));
                std::copy(contents.begin(), contents.end(), buffer.begin() + static_cast<std::ptrdiff_t>(at));
            }
            at += moves.cell_bytes;
        }
    }
    for (const auto& [cell, copies] : taken) held.erase(cell);
    return buffer;
}

void CellContents::keep(std::size_t device, const std::uint8_t* bytes, std::uint64_t count) {
    held_[device][word_at(bytes) - 1].emplace_back(bytes, bytes + count);
}

void CellContents::unpack(std::uint32_t collective, std::size_t device, const std::vector<std::uint8_t>& buffer) {
    const CellMoves& moves = batch_->moves.at(collective);
    for (std::size_t from = 0; from < held_.size(); ++from) {
        std::uint64_t count = moves.capacity;
        // No message tells a device how many of its own cells stay.
        if (moves.sparse)
            count = from == device ? moves.cells[from][device].size()
                                   : word_at(buffer.data() + moves.sizes_received + kNumberBytes * from);
        const std::uint64_t at = moves.receive[from][device];
        for (std::uint64_t i = 0; i < count && at + (i + 1) * moves.cell_bytes <= buffer.size(); ++i) {
            const std::uint8_t* const cell = buffer.data() + at + i * moves.cell_bytes;
            if (word_at(cell) == 0) continue;
            if (from != device) result_.moved_bytes += moves.cell_bytes;
            keep(device, cell, moves.cell_bytes);
        }
    }
}

void CellContents::end() {
    for (std::uint64_t cell = 0; cell < batch_->ends.size(); ++cell) {
        ++result_.cells;
        std::size_t holders = 0;
        for (const auto& held : held_) holders += held.count(cell);
        const sched::brainstorm::CellEnd& wanted = batch_->ends[cell];
        const auto found = held_[wanted.device].find(cell);
        if (holders != 1 || found == held_[wanted.device].end() || found->second.size() != wanted.copies) continue;
        ++result_.arrived;
        bool intact = true;
        for (const Bytes& contents : found->second) {
            Bytes expected(contents.size());
            fill(expected, 0, cell + 1);
            intact = intact && contents == expected;
        }
        result_.intact += intact;
    }
}

}  // namespace switchyard::platform::brainstorm
