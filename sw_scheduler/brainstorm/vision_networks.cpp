// SPDX-License-Identifier: Apache-2.0
// LiveSR, MSDNet and DynamicRouting at the sizes of Raphael-Hao/brainstorm and of the publications.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/brainstorm/network_generators.h"

namespace switchyard::sched::brainstorm {

namespace {

/// ResNet-18 without its classifier on maps of `side`: two basic blocks of 64, 128, 256 and 512 channels.
std::vector<Wave> resnet18(std::uint64_t side) {
    std::vector<Wave> waves{{convolution_layer(3, 64, side, side, 7, 2, 2)}};
    side = (side + 3) / 4;
    std::uint64_t in = 64;
    for (std::uint64_t group = 0; group < 4; ++group) {
        const std::uint64_t out = 64u << group, stride = group == 0 ? 1 : 2;
        waves.push_back({convolution_layer(in, out, side, side, 3, stride, 2)});
        if (stride == 2) waves.back().push_back(convolution_layer(in, out, side, side, 1, 2, 1));
        side = (side + stride - 1) / stride;
        for (int i = 0; i < 3; ++i) waves.push_back({convolution_layer(out, out, side, side, 3, 1, 2)});
        in = out;
    }
    return waves;
}

}  // namespace

/// LiveSR (Brainstorm, section 7.4.2): 32 x 32 patches, a ResNet-18 and nearest neighbours choose one of several
/// networks for super-resolution, whose kernels the tuning logs of the repository show: 3 x 3 convolutions with bias
/// and ReLU, and with an addition. Declared: a head, `blocks` residual blocks, an end, and an upsampling by 2.
/// `extractor: none` leaves the ResNet-18 out, for the time of the branches alone.
void read_live_sr(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t channels = file.integer_or("channels", 1, 512, 8);
    const std::uint64_t blocks = file.integer_or("blocks", 0, 64, 8);
    const bool extractor = file.choice_or("extractor", {"resnet18", "none"}) == "resnet18";
    network.cells = file.integer("patches", 1, 1 << 20);
    const CellRouter router = read_network_router(file, CellRouter::Kind::switch_one);
    constexpr std::uint64_t kSide = 32;
    Stage stage;
    stage.name = "subnetworks";
    if (extractor) stage.fixed = resnet18(kSide);
    stage.routed = true;
    stage.router = router;
    stage.gate = {linear_layer(1, 512, router.branches), elementwise_layer(router.branches)};  // distances, nearest
    Branch branch;
    branch.waves.push_back({convolution_layer(3, channels, kSide, kSide, 3, 1, 1)});
    for (std::uint64_t i = 0; i < blocks; ++i) {
        branch.waves.push_back({convolution_layer(channels, channels, kSide, kSide, 3, 1, 1)});
        branch.waves.push_back({convolution_layer(channels, channels, kSide, kSide, 3, 1, 1)});
    }
    branch.waves.push_back({convolution_layer(channels, channels, kSide, kSide, 3, 1, 1)});
    branch.waves.push_back({convolution_layer(channels, 4 * channels, kSide, kSide, 3, 1, 1)});  // and pixel shuffle
    branch.waves.push_back({convolution_layer(channels, 3, 2 * kSide, 2 * kSide, 3, 1, 0)});
    stage.branches = {branch};
    stage.cell_elements = 3 * kSide * kSide;
    stage.cell_bytes = 4 * stage.cell_elements;
    network.stages.push_back(std::move(stage));
}

/// MSDNet (arXiv 1703.09844; kalviny/MSDNet-PyTorch models/msdnet.py): 5 blocks, base and step 4, 32 channels, growth
/// 16, factors 1-2-4-4 of growth and bottleneck, maps pruned to fewer scales with transitions that halve channels.
void read_msdnet(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t image = file.integer_or("image", 32, 4096, 224);
    const std::uint64_t blocks = file.integer_or("blocks", 2, 16, 5), step = file.integer_or("step", 1, 16, 4);
    const std::uint64_t growth = file.integer_or("growth", 1, 256, 16), first = file.integer_or("channels", 1, 256, 32);
    const std::uint64_t classes = file.integer_or("classes", 2, 100000, 1000);
    const CellRouter router = read_network_router(file, CellRouter::Kind::switch_one, 2);
    constexpr std::array<std::uint64_t, 4> kFactor{1, 2, 4, 4};
    network.cells = 1;
    std::array<std::uint64_t, 4> channels{}, side{};
    std::vector<Wave> waves{{convolution_layer(3, first, image, image, 7, 2, 2)},
                            {elementwise_layer(first * (image / 4) * (image / 4))}};  // pooling
    for (std::size_t s = 0; s < 4; ++s) {
        channels[s] = first * kFactor[s];
        side[s] = image / (4u << s);
        if (s > 0)
            waves.push_back({convolution_layer(channels[s - 1], channels[s], side[s - 1], side[s - 1], 3, 2, 2)});
    }
    const std::uint64_t layers = blocks * step, interval = (layers + 3) / 4;
    std::size_t finest = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
        for (std::uint64_t layer = block * step; layer < (block + 1) * step; ++layer) {
            const auto now = static_cast<std::size_t>(layer / interval);
            Wave bottlenecks, convolutions;
            std::array<std::uint64_t, 4> grown = channels;
            for (std::size_t s = now; s < 4; ++s) {
                const bool down = s > 0;
                const std::uint64_t width = growth * kFactor[s] / (down ? 2 : 1), inner = width * kFactor[s];
                bottlenecks.push_back(convolution_layer(channels[s], inner, side[s], side[s], 1, 1, 2));
                convolutions.push_back(convolution_layer(inner, width, side[s], side[s], 3, 1, 2));
                if (down) {
                    const std::uint64_t inner_down = width * kFactor[s - 1];
                    bottlenecks.push_back(
                        convolution_layer(channels[s - 1], inner_down, side[s - 1], side[s - 1], 1, 1, 2));
                    convolutions.push_back(convolution_layer(inner_down, width, side[s - 1], side[s - 1], 3, 2, 2));
                }
                grown[s] += growth * kFactor[s];
            }
            waves.push_back(std::move(bottlenecks));
            waves.push_back(std::move(convolutions));
            channels = grown;
            if (now == finest) continue;
            finest = now;
            Wave transition;
            for (std::size_t s = now; s < 4; ++s) {
                transition.push_back(convolution_layer(channels[s], channels[s] / 2, side[s], side[s], 1, 1, 2));
                channels[s] /= 2;
            }
            waves.push_back(std::move(transition));
        }
        const std::uint64_t last = side[3];
        std::vector<CellOperator> classifier{
            convolution_layer(channels[3], channels[3], last, last, 3, 2, 2),
            convolution_layer(channels[3], channels[3], (last + 1) / 2, (last + 1) / 2, 3, 2, 2),
            elementwise_layer(channels[3]), linear_layer(1, channels[3], classes)};
        if (block == 0) {
            Stage begin;
            begin.name = "block0";
            begin.fixed = std::move(waves);
            network.stages.push_back(std::move(begin));
        } else {
            network.stages.back().branches[0].waves = std::move(waves);
        }
        waves = {};
        Stage exit;
        exit.name = fmt::format("exit{}", block);
        if (block + 1 == blocks) {
            for (const CellOperator& op : classifier) exit.fixed.push_back({op});
        } else {
            exit.routed = true;
            exit.router = router;
            exit.gate = classifier;
            exit.gate.push_back(elementwise_layer(classes));  // softmax and its largest
            exit.branches.resize(2);
            exit.host_decides = true;
            exit.last_branch = 1;
        }
        network.stages.push_back(std::move(exit));
    }
}

namespace {

enum Path : int { kKeep = 0, kUp = 1, kDown = 2 };
constexpr unsigned kScales = 4;

/// A cell of DynamicRouting on a map of the scale: gate, two separable convolutions, and the paths that are open.
Stage routed_cell(const std::string& name, std::uint64_t channels, std::uint64_t height, std::uint64_t width,
                  const std::vector<Path>& paths) {
    Stage stage;
    stage.name = name;
    stage.routed = true;
    stage.router.kind = CellRouter::Kind::threshold;
    stage.router.branches = paths.size();
    stage.host_decides = true;
    stage.read_backs = static_cast<unsigned>(paths.size());
    stage.gate = {elementwise_layer(channels * height * width / 4),
                  convolution_layer(channels, channels / 2, height / 4, width / 4, 1, 1, 2),
                  elementwise_layer(channels * height * width / 32), linear_layer(1, channels / 2, paths.size(), 2)};
    for (int i = 0; i < 2; ++i) {
        stage.common.push_back({depthwise_layer(channels, height, width, 3)});
        stage.common.push_back({convolution_layer(channels, channels, height, width, 1, 1, 2)});
    }
    for (const Path path : paths) {
        Branch branch;
        if (path == kUp) {
            branch.waves = {{convolution_layer(channels, channels / 2, height, width, 1, 1, 2)},
                            {elementwise_layer(2 * channels * height * width)}};
        } else if (path == kDown) {
            branch.waves = {{convolution_layer(channels, 2 * channels, height, width, 1, 2, 2)}};
        } else {
            branch.waves = {{elementwise_layer(channels * height * width)}};
        }
        stage.branches.push_back(std::move(branch));
    }
    return stage;
}

}  // namespace

/// DynamicRouting (arXiv 2003.10401; yanwei-li/DynamicRouting): as sw_scheduler/kernel_streams/dynamic_routing.cpp,
/// with each gate as a router of up to three paths that the host reads one by one. A cell that no path leads to is left
/// out; one whose paths are all closed hands on its input.
void read_dynamic_routing_cells(MappingReader& file, RoutedNetwork& network) {
    const std::uint64_t rows = file.integer_or("rows", 128, 8192, 1024),
                        columns = file.integer_or("columns", 128, 8192, 2048);
    const std::uint64_t channels = file.integer_or("channels", 2, 4096, 64),
                        layers = file.integer_or("layers", 1, 256, 16);
    if (rows % 128 != 0)
        file.fail(
            "rows",
            fmt::format("expected a multiple of 128, as the coarsest gate sees one pixel of 128, found {}", rows));
    if (columns % 128 != 0)
        file.fail(
            "columns",
            fmt::format("expected a multiple of 128, as the coarsest gate sees one pixel of 128, found {}", columns));
    read_network_router(file, CellRouter::Kind::threshold);
    network.all_routers = file.choice_or("routers", {"reached", "all"}) == "all";
    network.cells = 1;
    Stage stem;
    stem.name = "stem";
    stem.fixed = {{convolution_layer(3, 64, rows, columns, 3, 2, 2)},
                  {depthwise_layer(64, rows / 2, columns / 2, 3)},
                  {convolution_layer(64, 64, rows / 2, columns / 2, 1, 1, 2)},
                  {depthwise_layer(64, rows / 2, columns / 2, 3, 2)},
                  {convolution_layer(64, channels, rows / 4, columns / 4, 1, 1, 2)}};
    network.stages.push_back(std::move(stem));
    struct Cell {
        std::size_t stage;
        std::vector<Path> paths;
    };
    const auto leads = [](const Cell& cell, Path path, std::vector<std::pair<std::size_t, int>>& from) {
        for (std::size_t b = 0; b < cell.paths.size(); ++b)
            if (cell.paths[b] == path) from.emplace_back(cell.stage, static_cast<int>(b));
        if (path == kKeep) from.emplace_back(cell.stage, -1);
    };
    std::vector<Cell> previous;
    const auto add = [&](const std::string& name, unsigned scale, std::vector<Path> paths,
                         std::vector<std::pair<std::size_t, int>> from) {
        Stage stage = routed_cell(name, channels << scale, rows / 4 >> scale, columns / 4 >> scale, paths);
        stage.reached_from = std::move(from);
        network.stages.push_back(std::move(stage));
        return Cell{network.stages.size() - 1, std::move(paths)};
    };
    previous = {add("cell0", 0, {kKeep, kDown}, {})};
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        std::vector<Cell> next;
        const auto scales = static_cast<unsigned>(std::min<std::uint64_t>(layer + 2, kScales));
        for (unsigned scale = 0; scale < scales; ++scale) {
            std::vector<std::pair<std::size_t, int>> from;
            if (scale > 0) leads(previous[scale - 1], kDown, from);
            if (scale < previous.size()) leads(previous[scale], kKeep, from);
            if (scale + 1 < previous.size()) leads(previous[scale + 1], kUp, from);
            std::vector<Path> paths{kKeep};
            const bool last = layer + 1 == layers;
            if (!last && scale > 0) paths.push_back(kUp);
            if (!last && scale + 1 < kScales) paths.push_back(kDown);
            next.push_back(add(fmt::format("layer{}scale{}", layer, scale), scale, std::move(paths), std::move(from)));
        }
        previous = std::move(next);
    }
    Stage decoder;
    decoder.name = "decoder";
    for (unsigned scale = kScales; scale-- > 0;) {
        const std::uint64_t c = channels << scale, h = rows / 4 >> scale, w = columns / 4 >> scale;
        decoder.fixed.push_back({convolution_layer(c, scale > 0 ? c / 2 : c, h, w, 1, 1, 2)});
        if (scale > 0) decoder.fixed.push_back({elementwise_layer(2 * c * h * w)});
    }
    decoder.fixed.push_back({convolution_layer(channels, 19, rows / 4, columns / 4, 3)});
    decoder.fixed.push_back({elementwise_layer(19 * rows * columns)});
    network.stages.push_back(std::move(decoder));
}

}  // namespace switchyard::sched::brainstorm
