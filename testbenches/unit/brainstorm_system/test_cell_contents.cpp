// SPDX-License-Identifier: Apache-2.0
// Contents of cells: what is lost, doubled, changed or on the wrong device is found.
#include <algorithm>
#include <functional>

#include "switchyard/platform/systems/brainstorm/cell_contents.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/testbenches/catch.h"

using namespace switchyard;
using namespace switchyard::platform::brainstorm;
using sched::brainstorm::BatchProgram;
using sched::brainstorm::CellMoves;

namespace {

constexpr std::uint64_t kBytes = 16, kSizes = 32;

/// Two devices with two cells each: each sends its second cell to the other one. Offsets as sparse_layout() has them.
BatchProgram exchange_of_two(std::uint64_t cell_bytes = kBytes) {
    BatchProgram batch;
    CellMoves moves;
    moves.cell_bytes = cell_bytes;
    moves.sizes_received = 16;
    moves.cells = {{{0}, {1}}, {{3}, {2}}};
    moves.send = {{kSizes, kSizes + kBytes}, {kSizes, kSizes + kBytes}};
    moves.receive = {{kSizes + 2 * kBytes, kSizes + 2 * kBytes}, {kSizes + 3 * kBytes, kSizes + 3 * kBytes}};
    batch.moves.push_back(moves);
    batch.collectives.emplace_back();
    batch.collectives.back().buffer_bytes = kSizes + 4 * kBytes;
    batch.ends = {{0, 1}, {1, 1}, {1, 1}, {0, 1}};
    return batch;
}

using Buffers = std::vector<std::vector<std::uint8_t>>;

/// Moves what the layout says, then lets `damage` at the buffers.
CellContents::Result after(const std::function<void(Buffers&)>& damage) {
    const BatchProgram batch = exchange_of_two();
    const CellMoves& moves = batch.moves.front();
    CellContents contents;
    contents.begin(batch, 2, 2);
    Buffers buffers{contents.pack(0, 0), contents.pack(0, 1)};
    for (std::size_t from = 0; from < 2; ++from)
        for (std::size_t to = 0; to < 2; ++to) {
            std::copy_n(buffers[from].begin() + static_cast<std::ptrdiff_t>(moves.send[from][to]), kBytes,
                        buffers[to].begin() + static_cast<std::ptrdiff_t>(moves.receive[from][to]));
            std::copy_n(buffers[from].begin() + static_cast<std::ptrdiff_t>(8 * to), 8,
                        buffers[to].begin() + static_cast<std::ptrdiff_t>(moves.sizes_received + 8 * from));
        }
    damage(buffers);
    for (std::size_t device = 0; device < 2; ++device) contents.unpack(0, device, buffers[device]);
    contents.end();
    return contents.result();
}

}  // namespace

TEST_CASE("cells that arrive whole are counted", "[cell_contents]") {
    const CellContents::Result result = after([](Buffers&) {});
    CHECK(result.cells == 4);
    CHECK(result.arrived == 4);
    CHECK(result.intact == 4);
    CHECK(result.moved_bytes == 2 * kBytes);
}

TEST_CASE("a cell that is lost, doubled, changed or elsewhere is found", "[cell_contents]") {
    const std::size_t place = kSizes + 3 * kBytes;  // in device 0's buffer: cell 3, from device 1
    const CellContents::Result lost = after([&](Buffers& buffers) {
        std::fill_n(buffers[0].begin() + static_cast<std::ptrdiff_t>(place), kBytes, std::uint8_t{0});
    });
    CHECK(lost.arrived == 3);
    const CellContents::Result doubled = after([&](Buffers& buffers) {
        std::copy_n(buffers[1].begin() + static_cast<std::ptrdiff_t>(kSizes + 2 * kBytes), kBytes,
                    buffers[0].begin() + static_cast<std::ptrdiff_t>(place));
    });
    CHECK(doubled.arrived == 2);  // cell 1 is on both devices, cell 3 on none
    const CellContents::Result changed = after([&](Buffers& buffers) { buffers[0][place + 9] ^= 1; });
    CHECK(changed.arrived == 4);
    CHECK(changed.intact == 3);
    const CellContents::Result untold = after([](Buffers& buffers) { buffers[1][16] = 0; });  // size from device 0
    CHECK(untold.arrived == 3);
}

TEST_CASE("cells without room for their number are refused", "[cell_contents]") {
    const BatchProgram batch = exchange_of_two(4);
    CellContents contents;
    CHECK_THROWS_AS(contents.begin(batch, 2, 2), InputError);
}
