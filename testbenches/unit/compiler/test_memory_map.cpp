// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include "switchyard/sw_scheduler/adyna/compiler/compile.h"
#include "switchyard/sw_scheduler/adyna/compiler/memory_map.h"
#include "switchyard/sw_scheduler/adyna/compiler/tensor_layout.h"
#include "switchyard/sw_scheduler/workload/model_reader.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/compiler/chips.h"

namespace switchyard::sched {
namespace {

double busiest_over_mean(const std::vector<double>& load) {
    const double sum = std::accumulate(load.begin(), load.end(), 0.0);
    return *std::max_element(load.begin(), load.end()) * static_cast<double>(load.size()) / sum;
}

TEST_CASE("Pieces of an operator on few neighbouring tiles lie on many interfaces") {
    const HardwareDescription chip = large_chip();
    std::vector<PieceTraffic> pieces;
    for (std::uint16_t tile = 0; tile < 15; ++tile) pieces.push_back({tile, {{0, 3.4e6}}});    // a merge
    for (std::uint16_t tile = 15; tile < 144; ++tile) pieces.push_back({tile, {{0, 0.4e6}}});  // a convolution
    for (std::uint16_t slice = 0; slice < 8; ++slice) pieces.push_back({slice, {{0, 70e3}}});  // its weights
    const std::vector<unsigned> interfaces = balanced_interfaces(chip, pieces);
    std::vector<double> load(chip.memory.size(), 0);
    for (std::size_t i = 0; i < pieces.size(); ++i) load[interfaces[i]] += pieces[i].sum();
    CHECK(busiest_over_mean(load) <= 1.5);
    CHECK(std::vector<unsigned>(interfaces.begin(), interfaces.begin() + 15) !=
          std::vector<unsigned>(15, interfaces[0]));
    std::vector<unsigned> heavy(interfaces.begin(), interfaces.begin() + 15);
    std::sort(heavy.begin(), heavy.end());
    CHECK(std::adjacent_find(heavy.begin(), heavy.end()) == heavy.end());
}

TEST_CASE("A piece lies at the closest of the least loaded interfaces") {
    const HardwareDescription chip = large_chip();
    const std::uint16_t tile = 12 * 5 + 2;
    CHECK(balanced_interfaces(chip, {{tile, {{0, 10}}}}) == std::vector<unsigned>{chip.closest_memory(tile)});
    // Heavy pieces choose first; what other segments do is no load.
    const std::vector<unsigned> three =
        balanced_interfaces(chip, {{tile, {{0, 5}}}, {tile, {{0, 10}}}, {tile, {{1, 1}}}});
    CHECK(three[1] == chip.closest_memory(tile));
    CHECK(three[0] != three[1]);
    CHECK(three[2] == three[1]);
    // A piece that two segments use goes where the busier of the two has room.
    const std::vector<unsigned> shared =
        balanced_interfaces(mini_chip(), {{0, {{0, 100}}}, {0, {{1, 90}}}, {2, {{1, 80}}}, {0, {{0, 1}, {1, 1}}}});
    CHECK(shared == std::vector<unsigned>{0, 0, 1, 1});
}

TEST_CASE("Of a network's tensors any two micro-batches are spread over the interfaces") {
    const HardwareDescription chip = large_chip();
    const Model model = read_model("configs/workloads/skipnet_resnet34.yaml");
    const Image image = compile(model.graph, chip);
    std::map<std::uint16_t, const OperatorPlacement*> placements;
    for (const TileProgram& program : image.tiles) {
        for (const OperatorPlacement& placement : program.placements) placements.emplace(placement.op_id, &placement);
    }
    std::size_t checked = 0;
    for (const TileProgram& program : image.tiles) {
        for (const Edge& edge : program.edges) {
            if (edge.path != EdgePath::memory || placements.at(edge.dst_op)->in_memory()) continue;
            const OperatorPlacement& tensor = *placements.at(edge.src_op);
            const Partition& cut = tensor.partitions.front();
            const std::uint32_t unit = placements.at(edge.dst_op)->unit_samples, block = cut.dyn_dim / cut.n;
            if (edge.rows < 7 || 2 * unit > cut.dyn_dim) continue;  // too small to be spread, or needed as a whole
            std::vector<double> pieces(chip.memory.size(), 0);
            for (std::uint32_t piece = 0; piece < (2 * unit + block - 1) / block * cut.p; ++piece)
                ++pieces[tensor.store.address(piece, 0, chip.region_bytes) / chip.region_bytes];
            const auto used = std::count_if(pieces.begin(), pieces.end(), [](double count) { return count > 0; });
            CHECK(static_cast<double>(used) >= 0.5 * static_cast<double>(pieces.size()));
            ++checked;
        }
    }
    CHECK(checked > 5);
}

TEST_CASE("A tensor is cut where few requests reach all of its interfaces") {
    OperatorShape convolution;
    convolution.kind = OpKind::convolution;
    convolution.out_rows = convolution.in_rows = 14;
    convolution.out_columns = convolution.in_columns = 14;
    // Two tiles a sample: cut by samples alone, because 16 samples keep 4 interfaces busy.
    const TensorAccess reads{convolution, {16, 16, 2}, 1, 8, false, false, false};
    const Partition cut = cut_tensor(128, 14, 4, {reads});
    CHECK(cut.dyn_dim == 128);
    CHECK(cut.p == 1);
    CHECK(requests_of(reads, 14, 1, 14) == 16 * 2 * 8);
    CHECK(requests_of(reads, 14, 1, 7) == 16 * 2 * 8);
    CHECK(requests_of(reads, 14, 1, 2) == 16 * (4 + 4) * 8);
    CHECK(requests_of(reads, 14, 4, 7) == 16 * 2 * 8);
    // Units of one sample on 24 interfaces: rows have to be spread too.
    const TensorAccess small{convolution, {1, 1, 14}, 1, 128, false, false, false};
    CHECK(cut_tensor(128, 14, 24, {small}).p > 6);
    CHECK(cut_tensor(128, 14, 24, {}).dyn_dim == 128);
}

}  // namespace
}  // namespace switchyard::sched
