// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/format_network.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/testbenches/property/format_layers.h"

namespace switchyard::testing {

namespace {

constexpr unsigned kDeepest = 2;  ///< switches around an operator

/// Networks as blocks: each takes a tensor and gives one on the same branches.
class BlockBuilder {
public:
    BlockBuilder(RandomSource& random, FormatUse use, unsigned batch_inputs, unsigned samples_per_input)
        : random_(random), layers_(random, use, samples_per_input), switches_(layers_, batch_inputs) {}

    /// Blocks one after another, perhaps with exits on the way. Returns the names of the outputs.
    std::vector<std::string> trunk(Tensor now) {
        const unsigned blocks = random_.integer(1, 5);
        const double exits = random_.chance(0.3) ? random_.uniform(0.3, 1) : 0;
        classes_ = random_.integer(2, 20);
        patience_ = random_.chance(0.4) ? random_.integer(1, 3) : 0;
        now = layers_.project(now, layers_.random_channels());
        for (unsigned i = 0; i < blocks; ++i) {
            now = block(now, 0);
            if (!on_branch_ && layers_.folded() && random_.chance(0.2)) now = discard(now);
            if (heads_.size() < 4 && random_.chance(exits)) now = exit(now);
        }
        // A branch of a switch, a mean or the model's input may be an output too.
        const bool plain = !layers_.values() && random_.chance(0.15);
        if (plain) discarded_ = true;
        heads_.push_back(plain ? layers_.pooled(now).name : classifier(now));
        if (heads_.size() == 1 || discarded_ || random_.chance(0.4)) return heads_;
        std::vector<Tensor> ends;
        for (const std::string& head : heads_) ends.push_back({head, {classes_, 1, 1}});
        return {layers_.merge(ends, true).name};
    }

    /// Two paths from one stem that no operator joins, each with a switch and exits of its own.
    std::vector<std::string> parallel_exits(const Tensor& input) {
        const Tensor stem = layers_.project(input, layers_.random_channels());
        std::vector<std::string> outputs;
        classes_ = random_.integer(2, 12);
        for (unsigned path = 0; path < 2; ++path) {
            const Tensor now = layers_.project(stem, layers_.random_channels());
            const std::string name = switches_.on(now, 2, SwitchKind::exclusive, false);
            for (unsigned branch = 0; branch < 2; ++branch)
                outputs.push_back(classifier(layers_.same_shape(branch_of(name, branch, now.shape))));
        }
        return outputs;
    }

    /// All samples of an input make one result.
    std::vector<std::string> over_input(Tensor now) {
        classes_ = random_.integer(2, 20);
        now = layers_.pooled(layers_.project(now, layers_.random_channels()));
        for (unsigned i = random_.integer(1, 2); i > 0; --i)
            now = random_.chance(0.6) ? layers_.attention(now, true) : block(now, 0);
        now = layers_.pool_over_input(now);
        return {random_.chance(0.7) ? classifier(now) : layers_.same_shape(now).name};
    }

    std::string layers() const { return layers_.text(); }
    std::string routing() { return switches_.routing(); }

private:
    static Tensor branch_of(const std::string& name, unsigned branch, const Shape& shape) {
        return {fmt::format("{}.{}", name, branch), shape};
    }

    std::string classifier(const Tensor& from) { return layers_.project(layers_.pooled(from), classes_).name; }

    /// An exit from the trunk: branch 1 leaves for a classifier or ends.
    Tensor exit(const Tensor& now) {
        const std::string name = patience_ > 0 ? switches_.with_patience(now, patience_, classes_)
                                               : switches_.on(now, 2, SwitchKind::exclusive, on_branch_);
        on_branch_ = true;
        if (random_.chance(0.15)) {
            layers_.sink(name + ".1");
            discarded_ = true;
        } else {
            heads_.push_back(classifier({name + ".1", now.shape}));
        }
        return {name + ".0", now.shape};
    }

    /// Only some of the samples continue.
    Tensor discard(const Tensor& from) {
        const std::string name = switches_.on(from, 2, SwitchKind::exclusive, on_branch_);
        layers_.sink(name + ".0");
        on_branch_ = discarded_ = true;
        return layers_.same_shape({name + ".1", from.shape});
    }

    /// What happens on one branch: from the switch's tensor to one with N channels.
    Tensor on_branch(const Tensor& from, unsigned channels, unsigned depth) {
        const bool before = std::exchange(on_branch_, true);
        Tensor now = from;
        for (unsigned length = random_.integer(0, 2); length > 0; --length) now = block(now, depth + 1);
        now = layers_.project(now, channels);
        on_branch_ = before;
        return now;
    }

    Tensor skipped_block(const Tensor& from, unsigned depth) {
        const std::string name = switches_.on(from, 2, SwitchKind::exclusive, on_branch_);
        const Tensor inside = on_branch(branch_of(name, 1, from.shape), from.shape.channels, depth);
        return layers_.merge({branch_of(name, 0, from.shape), inside}, true);
    }

    Tensor branches(const Tensor& from, SwitchKind kind, unsigned depth) {
        const unsigned count = random_.chance(0.05) ? random_.integer(9, 20) : random_.integer(2, 6);
        const unsigned channels = layers_.random_channels();
        const std::string name = switches_.on(from, count, kind, on_branch_), gate = switches_.gate();
        std::vector<Tensor> ends;
        for (unsigned i = 0; i < count; ++i)
            ends.push_back(on_branch(branch_of(name, i, from.shape), channels, i == 0 ? depth : kDeepest));
        const Tensor merged = layers_.merge(ends, kind == SwitchKind::exclusive);
        return gate.empty() || random_.chance(0.7) ? merged : layers_.scaled(merged, gate);
    }

    /// One merge closes two switches.
    Tensor nested(const Tensor& from, unsigned depth) {
        const unsigned channels = layers_.random_channels();
        const std::string outer = switches_.on(from, 2, SwitchKind::exclusive, on_branch_);
        const Tensor first = on_branch(branch_of(outer, 0, from.shape), channels, kDeepest);
        const Tensor inside = layers_.same_shape(branch_of(outer, 1, from.shape));
        const bool before = std::exchange(on_branch_, true);
        const std::string inner = switches_.on(inside, 2, SwitchKind::exclusive, true);
        on_branch_ = before;
        const Tensor second = on_branch(branch_of(inner, 0, inside.shape), channels, depth + 1);
        const Tensor third = on_branch(branch_of(inner, 1, inside.shape), channels, kDeepest);
        return layers_.merge({first, second, third}, true);
    }

    /// The channels of a convolution, gated by groups.
    Tensor gated_channels(const Tensor& from) {
        const unsigned groups = random_.choose<unsigned>({2, 4, 8});
        if (from.shape.channels % groups != 0) return layers_.same_shape(from);
        const std::string name = switches_.on(from, groups, SwitchKind::any, on_branch_);
        const Tensor parts{name, from.shape};
        return layers_.merge(layers_.grouped(parts, groups, layers_.random_channels()), false);
    }

    /// A shortcut that all samples take next to a branch that only some take.
    Tensor partial_sum(const Tensor& from) {
        const std::string name = switches_.on(from, 2, SwitchKind::any, on_branch_);
        const Tensor some = on_branch(branch_of(name, 0, from.shape), from.shape.channels, kDeepest);
        layers_.sink(name + ".1");
        return layers_.merge({from, some}, false);
    }

    /// Two paths between the same ends.
    Tensor parallel(const Tensor& from) {
        const unsigned channels = layers_.random_channels();
        const Tensor left = layers_.project(layers_.same_shape(from), channels);
        return layers_.project(from, channels, left.name);
    }

    Tensor block(const Tensor& from, unsigned depth) {
        const double kind = random_.uniform();
        if (depth < kDeepest) {
            if (kind < 0.10) return skipped_block(from, depth);
            if (kind < 0.20) return branches(from, SwitchKind::exclusive, depth);
            if (kind < 0.30) return branches(from, SwitchKind::any, depth);
            if (kind < 0.36) return gated_channels(from);
            if (kind < 0.42 && depth + 1 < kDeepest) return nested(from, depth);
            if (kind < 0.46) return partial_sum(from);
        }
        if (kind < 0.52) return parallel(from);
        if (kind < 0.60 && !on_branch_ && layers_.folded() && from.shape.rows * from.shape.columns == 1)
            return layers_.attention(from, true);
        return depth == 0 && kind < 0.78 ? layers_.other_shape(from) : layers_.same_shape(from);
    }

    RandomSource& random_;
    FormatLayers layers_;
    FormatSwitches switches_;
    unsigned classes_ = 2, patience_ = 0;
    bool on_branch_ = false;  ///< not every sample is here
    bool discarded_ = false;  ///< some samples reach no output
    std::vector<std::string> heads_;
};

}  // namespace

RandomNetwork random_format_network(RandomSource& random, FormatUse use) {
    RandomNetwork network;
    const bool values = use == FormatUse::values;
    const bool many = !values && random.chance(0.03);
    network.batch_inputs = static_cast<unsigned>(random.log_integer(1, values ? 12 : many ? 1500 : 48));
    const unsigned most = values ? 4 : many ? 64 : 8;
    const unsigned samples_per_input = random.chance(0.35) ? random.integer(2, most) : 1;
    BlockBuilder blocks(random, use, network.batch_inputs, samples_per_input);
    const Tensor input{"input", random_input(random, use)};
    const double kind = random.uniform();
    const std::vector<std::string> outputs = kind < 0.12                            ? blocks.parallel_exits(input)
                                             : kind < 0.35 && samples_per_input > 1 ? blocks.over_input(input)
                                                                                    : blocks.trunk(input);
    network.yaml =
        fmt::format("name: random\nbatch: {}\nsamples_per_input: {}\n", network.batch_inputs, samples_per_input);
    network.yaml += fmt::format("input: {{channels: {}, rows: {}, columns: {}}}\n", input.shape.channels,
                                input.shape.rows, input.shape.columns);
    network.yaml += blocks.layers() + fmt::format("outputs: [{}]\n", fmt::join(outputs, ", ")) + blocks.routing();
    return network;
}

}  // namespace switchyard::testing
