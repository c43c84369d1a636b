// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/brainstorm/routed_network.h"

namespace switchyard::sched::brainstorm {

/// Each reads its keys of a description (docs/brainstorm.md) and fills in cells and stages. A generator's source says
/// what was read in which publication or repository, and what is declared.
void read_switch_transformer(MappingReader& file, RoutedNetwork& network);
void read_task_moe(MappingReader& file, RoutedNetwork& network);
void read_swin_moe(MappingReader& file, RoutedNetwork& network);
void read_live_sr(MappingReader& file, RoutedNetwork& network);
void read_msdnet(MappingReader& file, RoutedNetwork& network);
void read_dynamic_routing_cells(MappingReader& file, RoutedNetwork& network);
/// Networks of the micro-benchmarks: Figs. 12 and 14 (cells that are only moved), 13 and 24 (a convolution a branch),
/// 15 (eight branches of matrix multiplications).
void read_exchange(MappingReader& file, RoutedNetwork& network);
void read_parallel_convolutions(MappingReader& file, RoutedNetwork& network);
void read_matrix_branches(MappingReader& file, RoutedNetwork& network);

/// `router: {...}` of the file; the generator says of what kind it must be and how many branches it has, 0: any.
CellRouter read_network_router(MappingReader& file, CellRouter::Kind kind, std::size_t branches = 0);

/// Self-attention of a transformer with a residual: queries, keys and values, scores, softmax, context, output.
/// `tokens` attend to `keys` tokens in each of `windows` windows of a unit of `cells` cells.
struct AttentionShape {
    std::uint64_t hidden = 1, heads = 1, tokens = 1, keys = 1, windows = 1, cells = 1;
};
void add_attention(std::vector<Wave>& waves, const AttentionShape& shape);
/// Norm, two linear layers with an activation between them, a residual; `rows` a unit of `cells` cells.
void add_feed_forward(std::vector<Wave>& waves, std::uint64_t hidden, std::uint64_t inner, std::uint64_t rows,
                      std::uint64_t cells);
/// Behind `fixed`: scores, softmax and choice for `branches` experts, each a feed-forward network.
Stage expert_stage(const std::string& name, std::vector<Wave> fixed, const CellRouter& router, std::uint64_t hidden,
                   std::uint64_t inner, std::uint64_t rows);

}  // namespace switchyard::sched::brainstorm
