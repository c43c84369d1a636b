// SPDX-License-Identifier: Apache-2.0
// Transformers with mixtures of experts, at the sizes of Raphael-Hao/brainstorm and of the publications.
#include <fmt/format.h>

#include "switchyard/sw_scheduler/brainstorm/network_generators.h"

namespace switchyard::sched::brainstorm {

void add_attention(std::vector<Wave>& waves, const AttentionShape& shape) {
    const std::uint64_t width = shape.hidden / shape.heads;
    const std::uint64_t rows = shape.tokens * shape.windows, key_rows = shape.keys * shape.windows;
    const auto problem = [&](std::uint64_t m, std::uint64_t k, std::uint64_t n) {
        CellOperator op = linear_layer(m, k, n, 0, shape.cells);
        op.side_by_side = shape.heads * shape.windows;
        op.weights = false;
        return op;
    };
    waves.push_back({elementwise_layer(rows * shape.hidden, shape.cells)});  // norm
    waves.push_back({linear_layer(rows, shape.hidden, shape.hidden, 0, shape.cells),
                     linear_layer(key_rows, shape.hidden, shape.hidden, 0, shape.cells),
                     linear_layer(key_rows, shape.hidden, shape.hidden, 0, shape.cells)});
    waves.push_back({problem(shape.tokens, width, shape.keys)});
    waves.push_back({elementwise_layer(shape.heads * rows * shape.keys, shape.cells)});  // softmax
    waves.push_back({problem(shape.tokens, shape.keys, width)});
    waves.push_back({linear_layer(rows, shape.hidden, shape.hidden, 1, shape.cells)});  // with the residual
}

void add_feed_forward(std::vector<Wave>& waves, std::uint64_t hidden, std::uint64_t inner, std::uint64_t rows,
                      std::uint64_t cells) {
    waves.push_back({elementwise_layer(rows * hidden, cells)});
    waves.push_back({linear_layer(rows, hidden, inner, 1, cells)});
    waves.push_back({linear_layer(rows, inner, hidden, 1, cells)});
}

Stage expert_stage(const std::string& name, std::vector<Wave> fixed, const CellRouter& router, std::uint64_t hidden,
                   std::uint64_t inner, std::uint64_t rows) {
    Stage stage;
    stage.name = name;
    stage.fixed = std::move(fixed);
    stage.fixed.push_back({elementwise_layer(rows * hidden)});  // norm
    stage.routed = true;
    stage.router = router;
    if (router.kind == CellRouter::Kind::top_k)
        stage.gate = {linear_layer(rows, hidden, router.branches), elementwise_layer(rows * router.branches),
                      elementwise_layer(rows * router.branches)};  // scores, softmax, choice
    else
        stage.gate = {elementwise_layer(router.branches)};
    Branch expert;
    expert.waves = {{linear_layer(rows, hidden, inner, 1)}, {linear_layer(rows, inner, hidden)}};
    stage.branches = {expert};
    stage.cell_elements = rows * hidden;
    stage.cell_bytes = 4 * stage.cell_elements;
    return stage;
}

/// switch-base (huggingface.co/google/switch-base-8 config: d_model 768, d_ff 3072, 12 heads, 12 + 12 layers, a sparse
/// one every second). Serial execution is that of transformers' modeling_switch_transformers.py: the loop visits every
/// expert, and each of its two boolean indices waits for the device. Declared: the decoder has as many tokens as the
/// encoder.
void read_switch_transformer(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t sentences = file.integer_or("batch", 1, 4096, 8);
    const std::uint64_t tokens = file.integer_or("tokens", 1, 4096, 128);
    const std::uint64_t layers = file.integer_or("layers", 2, 96, 12);
    const CellRouter router = read_network_router(file, CellRouter::Kind::top_k);
    constexpr std::uint64_t kHidden = 768, kInner = 3072, kHeads = 12;
    network.cells = sentences * tokens;
    network.cells_per_input = tokens;
    for (const bool decoder : {false, true}) {
        std::vector<Wave> fixed;
        for (std::uint64_t layer = 0; layer < layers; ++layer) {
            add_attention(fixed, {kHidden, kHeads, tokens, tokens, 1, tokens});
            if (decoder) add_attention(fixed, {kHidden, kHeads, tokens, tokens, 1, tokens});
            if (layer % 2 == 0) {
                add_feed_forward(fixed, kHidden, kInner, tokens, tokens);
                continue;
            }
            Stage stage = expert_stage(fmt::format("{}{}", decoder ? "decoder" : "encoder", layer), std::move(fixed),
                                       router, kHidden, kInner, 1);
            stage.loops_over_branches = true;
            stage.read_backs = 1;
            network.stages.push_back(std::move(stage));
            fixed = {};
        }
    }
}

/// Task-level mixture of experts (arXiv 2110.03742) at the repository's sizes: hidden 512, FFN 2048, 6 layers, 8 heads,
/// 16 experts and tasks, two experts a sentence. Declared: every second layer has experts, as in the publication.
void read_task_moe(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t sentences = file.integer_or("batch", 1, 65536, 256);
    const std::uint64_t tokens = file.integer_or("tokens", 1, 4096, 32);
    const std::uint64_t layers = file.integer_or("layers", 1, 96, 6);
    const std::uint64_t every = file.integer_or("moe_every", 1, 96, 2);
    CellRouter router = read_network_router(file, CellRouter::Kind::task);
    router.k = file.integer_or("experts_of_a_task", 1, router.branches, 2);
    constexpr std::uint64_t kHidden = 512, kInner = 2048, kHeads = 8;
    network.cells = sentences;
    std::vector<Wave> fixed;
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        add_attention(fixed, {kHidden, kHeads, tokens, tokens, 1, 1});
        if ((layer + 1) % every != 0) {
            add_feed_forward(fixed, kHidden, kInner, tokens, 1);
            continue;
        }
        network.stages.push_back(
            expert_stage(fmt::format("layer{}", layer), std::move(fixed), router, kHidden, kInner, tokens));
        fixed = {};
    }
    if (fixed.empty()) return;
    Stage rest;
    rest.name = "rest";
    rest.fixed = std::move(fixed);
    network.stages.push_back(std::move(rest));
}

/// SwinV2-MoE (arXiv 2206.03382; microsoft/Swin-Transformer swin_transformer_v2_moe): image 192, patch 4, dim 96,
/// depths 2, 2, 18, 2, window 12, MoE in every second block of stage 3 and the last of stage 4. A cell is a token of
/// stage 3; stage 4 has a quarter of them, each of twice the width, which counts here as one cell in four.
/// `only_layer`: of the ten layers of experts this one by itself; 0: the network.
void read_swin_moe(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t images = file.integer_or("batch", 1, 4096, 128);
    const double factor = file.number_or("capacity_factor", 0, 64, 1.25);
    const std::uint64_t only = file.integer_or("only_layer", 0, 10, 0);
    CellRouter router = read_network_router(file, CellRouter::Kind::top_k);
    constexpr std::uint64_t kSide[] = {48, 24, 12, 6}, kDepth[] = {2, 2, 18, 2}, kHeads[] = {3, 6, 12, 24};
    constexpr std::uint64_t kTokens = 144;  // of an image at stage 3
    network.cells = images * kTokens;
    network.cells_per_input = kTokens;
    router.capacity =
        static_cast<std::uint64_t>(factor * static_cast<double>(network.cells) / static_cast<double>(router.branches));
    if (factor > 0 && router.capacity == 0)
        file.fail("capacity_factor", "expected a capacity of at least one cell, found 0");
    std::vector<Wave> fixed{{linear_layer(kSide[0] * kSide[0], 48, 96, 1, kTokens)}};  // patches of 4 x 4 x 3
    for (std::uint64_t stage = 0; stage < 4; ++stage) {
        const std::uint64_t hidden = 96u << stage, rows = kSide[stage] * kSide[stage];
        const std::uint64_t window = std::min<std::uint64_t>(12, kSide[stage]);
        const std::uint64_t windows = rows / (window * window);
        for (std::uint64_t block = 0; block < kDepth[stage]; ++block) {
            add_attention(fixed, {hidden, kHeads[stage], window * window, window * window, windows, kTokens});
            if (stage < 2 || block % 2 == 0) {
                add_feed_forward(fixed, hidden, 4 * hidden, rows, kTokens);
                continue;
            }
            Stage moe = expert_stage(fmt::format("stage{}block{}", stage + 1, block), std::move(fixed), router, hidden,
                                     4 * hidden, 1);
            moe.cells_each = stage == 3 ? 4 : 1;
            if (stage == 3) moe.router.capacity = router.capacity / 4;
            network.stages.push_back(std::move(moe));
            fixed = {};
        }
        if (stage < 3) fixed.push_back({linear_layer(rows / 4, 4 * hidden, 2 * hidden, 1, kTokens)});  // merges patches
    }
    Stage head;
    head.name = "head";
    head.fixed = {{linear_layer(1, 768, 21841, 0, kTokens)}};  // ImageNet-22k
    network.stages.push_back(std::move(head));
    if (only == 0) return;
    Stage layer = std::move(network.stages[only - 1]);
    layer.fixed.clear();
    network.stages.clear();
    network.stages.push_back(std::move(layer));
}

}  // namespace switchyard::sched::brainstorm
