// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/sushi/supernet_families.h"

#include <cmath>

#include <fmt/format.h>

namespace switchyard::sched::sushi {

namespace {

constexpr std::uint32_t kResNetBlocks[] = {2, 2, 4, 2}, kResNetWidths[] = {256, 512, 1024, 2048};
constexpr std::uint32_t kResNetStrides[] = {1, 2, 2, 2}, kResNetMoreBlocks = 2;
constexpr double kResNetMaxExpand = 0.35;

constexpr std::uint32_t kMobileWidths[] = {24, 40, 80, 112, 160}, kMobileStrides[] = {2, 2, 2, 1, 2};
constexpr bool kMobileSqueeze[] = {false, true, false, true, true};
constexpr std::uint32_t kMobileBlocks = 4, kMobileMaxExpand = 6, kMobileFirst = 16, kMobileLast = 960,
                        kMobileHead = 1280;
constexpr std::uint32_t kMobileSides[] = {3, 5, 7};

void add_tensor(Supernet& supernet, const std::string& name, std::uint32_t kernels, std::uint32_t channels,
                std::uint32_t side) {
    supernet.tensors.push_back({name, {kernels, channels}, side});
}

std::uint32_t middle(std::uint32_t channels, double expand) {
    return divisible(std::round(channels * expand));
}

/// Follows the layers of a network: each takes the one before.
class Chain {
public:
    Chain(const Supernet& supernet, SubNet& subnet, const MappingReader& from)
        : supernet_(supernet), subnet_(subnet), from_(from), channels(supernet.channels), size(supernet.height) {}

    /// A convolution of what came last; `tensor` names it and its weights.
    int convolve(const std::string& tensor, std::uint32_t kernels, std::uint32_t side, std::uint32_t stride = 1,
                 bool depthwise = false) {
        LayerUse use;
        use.name = tensor;
        use.layer = {kernels, channels, side, stride, size, size, depthwise, false, false};
        use.input = last;
        last = append_layer(supernet_, subnet_, from_, tensor, use);
        channels = kernels;
        size = use.layer.output_height();
        return last;
    }
    void add_residual(int layer) {
        subnet_.layers.back().layer.residual = true;
        subnet_.layers.back().residual = layer;
    }

private:
    const Supernet& supernet_;
    SubNet& subnet_;
    const MappingReader& from_;

public:
    int last = -1;
    std::uint32_t channels, size;
};

std::vector<double> numbers_of(MappingReader& mapping, const char* key, std::size_t count, double low, double high) {
    std::vector<double> numbers = mapping.numbers(key, low, high);
    if (numbers.size() != count) mapping.fail(key, fmt::format("expected {} numbers, found {}", count, numbers.size()));
    return numbers;
}

}  // namespace

std::uint32_t divisible(double value) {
    std::uint32_t result = static_cast<std::uint32_t>(value + 4) / 8 * 8;
    if (result < 8) result = 8;
    if (result < 0.9 * value) result += 8;
    return result;
}

void add_resnet_tensors(Supernet& supernet) {
    add_tensor(supernet, "stem.0", 32, supernet.channels, 3);
    add_tensor(supernet, "stem.1", 32, 32, 3);
    add_tensor(supernet, "stem.2", 64, 32, 3);
    std::uint32_t channels = 64;
    for (std::uint32_t stage = 0; stage < 4; ++stage) {
        const std::uint32_t width = kResNetWidths[stage], mid = middle(width, kResNetMaxExpand);
        for (std::uint32_t block = 0; block < kResNetBlocks[stage] + kResNetMoreBlocks; ++block) {
            const std::string name = fmt::format("s{}.b{}.", stage + 1, block);
            add_tensor(supernet, name + "conv1", mid, channels, 1);
            add_tensor(supernet, name + "conv2", mid, mid, 3);
            if (block == 0) add_tensor(supernet, name + "down", width, channels, 1);
            add_tensor(supernet, name + "conv3", width, mid, 1);
            channels = width;
        }
    }
}

SubNet read_resnet_subnet(const Supernet& supernet, MappingReader& mapping) {
    SubNet subnet;
    const std::vector<double> depth = numbers_of(mapping, "depth", 4, 0, kResNetMoreBlocks);
    const std::vector<double> expand = numbers_of(mapping, "expand", 4, 0.01, 1);
    const std::vector<double> width = numbers_of(mapping, "width", 6, 0.01, 2);
    Chain chain(supernet, subnet, mapping);
    const int first = chain.convolve("stem.0", divisible(32 * width[0]), 3, 2);
    chain.convolve("stem.1", chain.channels, 3);
    chain.add_residual(first);
    chain.convolve("stem.2", divisible(64 * width[1]), 3);
    chain.size = ceil_div(chain.size, 2U);  // max-pool
    for (std::uint32_t stage = 0; stage < 4; ++stage) {
        const std::uint32_t out = divisible(kResNetWidths[stage] * width[2 + stage]), mid = middle(out, expand[stage]);
        const auto blocks = kResNetBlocks[stage] + static_cast<std::uint32_t>(depth[stage]);
        for (std::uint32_t block = 0; block < blocks; ++block) {
            const std::string name = fmt::format("s{}.b{}.", stage + 1, block);
            const std::uint32_t channels = chain.channels, size = chain.size;
            const int input = chain.last;
            int shortcut = input;
            chain.convolve(name + "conv1", mid, 1);
            chain.convolve(name + "conv2", mid, 3, block == 0 ? kResNetStrides[stage] : 1);
            if (block == 0) {
                Chain branch = chain;
                branch.last = input;
                branch.channels = channels;
                // ResNet-D: an average pool takes the stride.
                branch.size = ceil_div(size, kResNetStrides[stage]);
                shortcut = branch.convolve(name + "down", out, 1);
            }
            chain.convolve(name + "conv3", out, 1);
            chain.add_residual(shortcut);
        }
    }
    return subnet;
}

void add_mobilenet_tensors(Supernet& supernet) {
    add_tensor(supernet, "first", kMobileFirst, supernet.channels, 3);
    add_tensor(supernet, "b0.depthwise", kMobileFirst, 1, 3);
    add_tensor(supernet, "b0.project", kMobileFirst, kMobileFirst, 1);
    std::uint32_t channels = kMobileFirst;
    for (std::uint32_t stage = 0; stage < 5; ++stage)
        for (std::uint32_t block = 0; block < kMobileBlocks; ++block) {
            const std::string name = fmt::format("s{}.b{}.", stage + 1, block);
            const std::uint32_t mid = middle(channels, kMobileMaxExpand);
            add_tensor(supernet, name + "expand", mid, channels, 1);
            for (const std::uint32_t side : kMobileSides)
                add_tensor(supernet, fmt::format("{}depthwise{}", name, side), mid, 1, side);
            if (kMobileSqueeze[stage]) {
                add_tensor(supernet, name + "squeeze", divisible(mid / 4.0), mid, 1);
                add_tensor(supernet, name + "excite", mid, divisible(mid / 4.0), 1);
            }
            add_tensor(supernet, name + "project", kMobileWidths[stage], mid, 1);
            channels = kMobileWidths[stage];
        }
    add_tensor(supernet, "last", kMobileLast, channels, 1);
    add_tensor(supernet, "head", kMobileHead, kMobileLast, 1);
}

SubNet read_mobilenet_subnet(const Supernet& supernet, MappingReader& mapping) {
    SubNet subnet;
    const std::vector<double> depth = numbers_of(mapping, "depth", 5, 2, kMobileBlocks);
    const std::vector<double> expand = numbers_of(mapping, "expand", 5, 1, 12);
    const std::vector<double> kernel = numbers_of(mapping, "kernel", 5, 1, 15);
    Chain chain(supernet, subnet, mapping);
    const int first = chain.convolve("first", kMobileFirst, 3, 2);
    chain.convolve("b0.depthwise", chain.channels, 3, 1, true);
    chain.convolve("b0.project", kMobileFirst, 1);
    chain.add_residual(first);
    for (std::uint32_t stage = 0; stage < 5; ++stage)
        for (std::uint32_t block = 0; block < static_cast<std::uint32_t>(depth[stage]); ++block) {
            const std::string name = fmt::format("s{}.b{}.", stage + 1, block);
            const std::uint32_t channels = chain.channels, mid = middle(channels, expand[stage]);
            const auto side = static_cast<std::uint32_t>(kernel[stage]);
            const int input = chain.last;
            chain.convolve(name + "expand", mid, 1);
            const int depthwise = chain.convolve(fmt::format("{}depthwise{}", name, side), mid, side,
                                                 block == 0 ? kMobileStrides[stage] : 1, true);
            if (kMobileSqueeze[stage]) {
                Chain branch = chain;
                branch.size = 1;  // of pooled channels
                branch.convolve(name + "squeeze", divisible(mid / 4.0), 1);
                branch.convolve(name + "excite", mid, 1);
            }
            chain.last = depthwise;
            chain.convolve(name + "project", kMobileWidths[stage], 1);
            if (block > 0) chain.add_residual(input);
        }
    chain.convolve("last", kMobileLast, 1);
    chain.size = 1;  // pooled
    chain.convolve("head", kMobileHead, 1);
    return subnet;
}

}  // namespace switchyard::sched::sushi
