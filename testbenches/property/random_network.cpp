// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/property/random_network.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "switchyard/testbenches/property/network_parts.h"

namespace switchyard::testing {

namespace {

class NetworkBuilder {
public:
    NetworkBuilder(RandomSource& random, PairSize size)
        : random_(random),
          max_channels_(size == PairSize::small ? 64 : 256),
          max_side_(size == PairSize::small ? 12 : 28) {}

    RandomNetwork build(PairSize size) {
        RandomNetwork network;
        network.batch_inputs = static_cast<unsigned>(random_.log_integer(1, size == PairSize::small ? 48 : 128));
        samples_per_input_ = random_.chance(0.25) ? random_.integer(2, 8) : 1;
        const Shape input = random_shape();
        const std::string outputs = random_.chance(0.2) ? parallel_exits({"input", input}) : trunk({"input", input});

        network.yaml =
            fmt::format("name: random\nbatch: {}\nsamples_per_input: {}\n", network.batch_inputs, samples_per_input_);
        network.yaml += fmt::format("input: {{channels: {}, rows: {}, columns: {}}}\nlayers:\n", input.channels,
                                    input.rows, input.columns);
        for (const std::string& layer : layers_) network.yaml += fmt::format("  - {{{}}}\n", layer);
        network.yaml += fmt::format("outputs: [{}]\n", outputs);
        network.yaml += routing();
        return network;
    }

private:
    std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, ++names_); }
    unsigned random_channels() {
        const auto any = static_cast<unsigned>(random_.log_integer(1, max_channels_));
        return random_.chance(0.6) ? std::max(4u, any / 4 * 4) : any;
    }
    Shape random_shape() {
        const auto side = [&] { return static_cast<unsigned>(random_.log_integer(2, max_side_)); };
        const double kind = random_.uniform();
        if (kind < 0.55) {
            const unsigned rows = side();
            return {random_channels(), rows, random_.chance(0.7) ? rows : side()};
        }
        if (kind < 0.8) return {random_channels(), side(), 1};
        return {random_channels(), 1, 1};
    }

    std::string fused(const std::string& added = "") {
        std::string list;
        for (const char* step : {"bias", "norm", "relu", "sigmoid"})
            if (random_.chance(0.25)) list += fmt::format("{}{}", list.empty() ? "" : ", ", step);
        if (!added.empty()) list += fmt::format("{}{{add: {}}}", list.empty() ? "" : ", ", added);
        return list.empty() ? "" : fmt::format(", fused: [{}]", list);
    }
    Tensor layer(const char* kind, const Tensor& from, Shape shape, const std::string& keys) {
        const std::string name = fresh(kind);
        layers_.push_back(fmt::format("name: {}, kind: {}, from: {}{}", name, kind, from.name, keys));
        return {name, shape};
    }
    /// Of the same rows and columns, with N channels. Adds the tensor `added`, if it has a name.
    Tensor project(const Tensor& from, unsigned channels, const std::string& added = "", const std::string& more = "") {
        const Shape shape{channels, from.shape.rows, from.shape.columns};
        const std::string keys = fmt::format(", out_channels: {}{}{}", channels, more, fused(added));
        if (from.shape.columns == 1 && random_.chance(0.8)) return layer("matmul", from, shape, keys);
        const unsigned room = std::min(from.shape.rows, from.shape.columns);
        const unsigned filter = room >= 3 && random_.chance(0.6) ? 3 : 1;
        return layer("convolution", from, shape, fmt::format(", filter: {}, pad: {}{}", filter, filter / 2, keys));
    }
    /// Of the same shape.
    Tensor keep_shape(const Tensor& from) {
        const double kind = random_.uniform();
        const bool image = from.shape.rows >= 3 && from.shape.columns >= 3;
        if (kind < 0.3) return project(from, from.shape.channels);
        if (kind < 0.4) return layer("elementwise", from, from.shape, fused());
        if (kind < 0.5) return layer("norm", from, from.shape, fused());
        if (kind < 0.6 && image) return layer("depthwise", from, from.shape, ", filter: 3, pad: 1" + fused());
        if (kind < 0.7 && image)
            return layer("pool", from, from.shape,
                         ", filter: 3, pad: 1, pooling: " + std::string(random_.chance(0.5) ? "mean" : "maximum"));
        if (kind < 0.85 && from.shape.columns == 1 && from.shape.rows > 1) {
            const unsigned width = 4 * random_.integer(1, 8);
            const Tensor queries = project(from, 3 * width);
            const Tensor heads = layer("attention", queries, {width, from.shape.rows, 1},
                                       fmt::format(", heads: {}", random_.choose<unsigned>({1, 2, 4})));
            return project(heads, from.shape.channels, from.name);
        }
        const Tensor inside = project(from, random_channels());
        return project(inside, from.shape.channels, random_.chance(0.5) ? from.name : "");
    }
    /// Of any shape.
    Tensor change_shape(const Tensor& from) {
        const Shape s = from.shape;
        const unsigned channels = random_channels();
        if (s.rows >= 4 && s.columns >= 4 && random_.chance(0.6)) {
            if (random_.chance(0.5))
                return layer("pool", from, {s.channels, s.rows / 2, s.columns / 2}, ", filter: 2, stride: 2");
            const unsigned stride = random_.integer(1, 3), filter = random_.choose<unsigned>({1, 2, 3, 4});
            return layer(
                "convolution", from, {channels, (s.rows - filter) / stride + 1, (s.columns - filter) / stride + 1},
                fmt::format(", filter: {}, stride: {}, out_channels: {}{}", filter, stride, channels, fused()));
        }
        if (s.rows * s.columns > 1 && random_.chance(0.2)) {
            return layer("convolution", from, {channels, 1, 1},
                         fmt::format(", filter: [{}, {}], out_channels: {}{}", s.rows, s.columns, channels, fused()));
        }
        return project(from, channels);
    }
    Tensor pooled(const Tensor& from) {
        return from.shape.rows * from.shape.columns == 1 ? from
                                                         : layer("global_pool", from, {from.shape.channels, 1, 1}, "");
    }

    /// A switch on `data` with a gate of its own. Returns its name.
    std::string switch_on(const Tensor& data, unsigned branches, bool exclusive) {
        const unsigned outputs = exclusive && branches == 2 && random_.chance(0.7) ? 1 : branches;
        Tensor seen = data;
        if (random_.chance(0.2)) seen = project(data, std::min(16u, random_channels()));
        Tensor gate;
        if (random_.chance(0.7)) {
            gate = layer("matmul", pooled(seen), {}, fmt::format(", out_channels: {}{}", outputs, fused()));
        } else {
            gate = layer(
                "convolution", seen, {},
                fmt::format(", filter: [{}, {}], out_channels: {}", seen.shape.rows, seen.shape.columns, outputs));
        }
        const std::string name = fresh("switch");
        layers_.push_back(fmt::format("name: {}, kind: switch, from: {}, gate: {}, branches: {}, choose: {}", name,
                                      data.name, gate.name, branches, exclusive ? "one" : "any"));
        declare_routes(name, branches, exclusive);
        return name;
    }
    void declare_routes(const std::string& name, unsigned branches, bool exclusive) {
        std::string routes;
        if (exclusive) {
            routes = random_.chance(0.2) ? fmt::format("{{zipf: {:.3f}}}", random_.uniform(0, 3))
                                         : fmt::format("[{}]", fmt::join(random_shares(random_, branches), ", "));
        } else if (random_.chance(0.4)) {
            routes = fmt::format("{{keep: {}, zipf: {:.3f}}}", random_.integer(1, branches), random_.uniform(0, 2));
        } else {
            std::vector<std::string> each;
            for (unsigned i = 0; i < branches; ++i)
                each.push_back(fmt::format("{:.3f}", random_.uniform(0.002, 0.998)));
            routes = fmt::format("[{}]", fmt::join(each, ", "));
        }
        routes_.push_back(fmt::format("    {}: {}", name, routes));
    }
    Tensor merge(const std::vector<Tensor>& sources, bool exclusive) {
        std::vector<std::string> names;
        for (const Tensor& source : sources) names.push_back(source.name);
        const std::string name = fresh("merge");
        layers_.push_back(fmt::format("name: {}, kind: merge, mode: {}, from: [{}]{}", name,
                                      exclusive ? "exclusive" : "sum", fmt::join(names, ", "), fused()));
        return {name, sources.front().shape};
    }

    /// What happens on one branch: from the switch's tensor to one with N channels.
    Tensor on_branch(const Tensor& from, unsigned channels, unsigned depth) {
        Tensor now = from;
        for (unsigned length = random_.integer(0, 2); length > 0; --length) now = block(now, depth + 1);
        return project(now, channels);
    }

    Tensor skipped_block(const Tensor& from, unsigned depth) {
        const std::string name = switch_on(from, 2, true);
        const Tensor skip{name + ".0", from.shape}, run{name + ".1", from.shape};
        const Tensor inside = on_branch(run, from.shape.channels, depth);
        return merge({skip, inside}, true);
    }
    Tensor exclusive_branches(const Tensor& from, unsigned depth) {
        const unsigned branches = random_.integer(2, 5), channels = random_channels();
        const std::string name = switch_on(from, branches, true);
        std::vector<Tensor> ends;
        for (unsigned i = 0; i < branches; ++i)
            ends.push_back(on_branch({fmt::format("{}.{}", name, i), from.shape}, channels, i == 0 ? depth : kDeepest));
        return merge(ends, true);
    }
    Tensor experts(const Tensor& from, unsigned depth) {
        const unsigned branches = random_.integer(2, 8), channels = random_channels();
        const std::string name = switch_on(from, branches, false);
        std::vector<Tensor> ends;
        for (unsigned i = 0; i < branches; ++i)
            ends.push_back(
                on_branch({fmt::format("{}.{}", name, i), from.shape}, channels, std::max(depth, kDeepest - 1)));
        return merge(ends, false);
    }
    Tensor gated_channels(const Tensor& from) {
        const unsigned groups = random_.choose<unsigned>({2, 4, 8});
        if (from.shape.channels % groups != 0) return keep_shape(from);
        const unsigned channels = random_channels();
        const std::string name = switch_on(from, groups, false);
        std::vector<Tensor> parts;
        for (unsigned i = 0; i < groups; ++i)
            parts.push_back(project({fmt::format("{}.{}", name, i), from.shape}, channels, "",
                                    fmt::format(", group: {}, groups: {}", i, groups)));
        return merge(parts, false);
    }
    /// Only some of the samples go on.
    Tensor discard(const Tensor& from) {
        const std::string name = switch_on(from, 2, true);
        layers_.push_back(fmt::format("name: {}, kind: sink, from: {}.0", fresh("dropped"), name));
        return {name + ".1", from.shape};
    }
    /// Two paths between the same ends.
    Tensor parallel(const Tensor& from) {
        const unsigned channels = random_channels();
        const Tensor left = project(keep_shape(from), channels);
        return project(from, channels, left.name);
    }

    Tensor block(const Tensor& from, unsigned depth) {
        const double kind = random_.uniform();
        if (depth < kDeepest && from.name != "input") {
            if (kind < 0.15) return skipped_block(from, depth);
            if (kind < 0.28) return exclusive_branches(from, depth);
            if (kind < 0.38) return experts(from, depth);
            if (kind < 0.44) return gated_channels(from);
        }
        if (kind < 0.52) return parallel(from);
        return depth == 0 && kind < 0.75 ? change_shape(from) : keep_shape(from);
    }

    std::string classifier(const Tensor& from, unsigned classes) { return project(pooled(from), classes).name; }

    /// Blocks one after another, perhaps with exits on the way. Returns the names of the outputs.
    std::string trunk(Tensor now) {
        const unsigned blocks = random_.integer(1, 6), classes = random_.integer(2, 20);
        const double exits = random_.chance(0.3) ? random_.uniform(0.3, 1) : 0;
        const bool merged = random_.chance(0.6);
        const bool patience = random_.chance(0.3);
        bool dropped = false;
        unsigned so_far = 0;
        std::vector<std::string> heads;
        now = project(now, random_channels());
        for (unsigned i = 0; i < blocks; ++i) {
            now = block(now, exits > 0 || dropped ? std::min(kDeepest, 1u) : 0);
            if (samples_per_input_ > 1 && exits == 0 && !dropped && random_.chance(0.3)) {
                now = keep_shape(discard(now));
                dropped = true;
            }
            if (so_far == 4 || !random_.chance(exits)) continue;
            ++so_far;
            const std::string name = switch_on(now, 2, true);
            if (patience)
                routes_.back() =
                    fmt::format("    {}: {{patience: 1, agreement: {:.3f}}}", name, random_.uniform(0.2, 0.95));
            heads.push_back(classifier({name + ".1", now.shape}, classes));
            now = {name + ".0", now.shape};
        }
        heads.push_back(classifier(now, classes));
        if (heads.size() == 1 || !merged) return fmt::format("{}", fmt::join(heads, ", "));
        std::vector<Tensor> ends;
        for (const std::string& head : heads) ends.push_back({head, {classes, 1, 1}});
        return merge(ends, true).name;
    }

    /// Two paths from one stem that no operator joins, each with a switch and an exit of its own.
    std::string parallel_exits(const Tensor& input) {
        const Tensor stem = project(input, random_channels());
        std::vector<std::string> outputs;
        for (unsigned path = 0; path < 2; ++path) {
            const Tensor now = project(stem, random_channels());
            const std::string name = switch_on(now, 2, true);
            for (unsigned branch = 0; branch < 2; ++branch)
                outputs.push_back(
                    classifier(keep_shape({fmt::format("{}.{}", name, branch), now.shape}), random_.integer(2, 12)));
        }
        return fmt::format("{}", fmt::join(outputs, ", "));
    }

    std::string routing() {
        if (routes_.empty()) return "";
        std::string text = fmt::format("routing:\n  seed: {}\n  correlation: {:.2f}\n", random_.integer(1, 1'000'000),
                                       random_.chance(0.5) ? 0 : random_.uniform());
        if (samples_per_input_ > 1) text += fmt::format("  input: {{correlation: {:.2f}}}\n", random_.uniform());
        if (random_.chance(0.3))
            text += fmt::format("  drift: {{amplitude: {:.2f}, period_batches: {}}}\n", random_.uniform(0, 0.24),
                                random_.integer(2, 20));
        return text + fmt::format("  switches:\n{}\n", fmt::join(routes_, "\n"));
    }

    static constexpr unsigned kDeepest = 2;  ///< switches around an operator

    RandomSource& random_;
    unsigned max_channels_, max_side_;
    unsigned samples_per_input_ = 1;
    unsigned names_ = 0;
    std::vector<std::string> layers_, routes_;
};

}  // namespace

RandomNetwork random_network(RandomSource& random, PairSize size) {
    return NetworkBuilder(random, size).build(size);
}

}  // namespace switchyard::testing
