// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/testbenches/property/format_network.h"
#include "switchyard/testbenches/property/network_parts.h"

namespace switchyard::testing {

/// What a model takes: an image, a sequence or a vector; where it is long, reductions are sliced.
Shape random_input(RandomSource& random, FormatUse use);

/// Layers of every kind but switches, with random sizes, filters and fused steps. A method adds one or more of them and
/// returns the tensor behind the last one, which is on the same branches as `from`.
class FormatLayers {
public:
    FormatLayers(RandomSource& random, FormatUse use, unsigned samples_per_input);

    bool values() const { return use_ == FormatUse::values; }
    /// Whether an input has several samples.
    bool folded() const { return samples_per_input_ > 1; }
    unsigned samples_per_input() const { return samples_per_input_; }
    RandomSource& random() { return random_; }
    unsigned random_channels();
    std::string fresh(const char* prefix);

    /// Of the same rows and columns, with N channels. Adds the tensor `added`, if it has a name.
    Tensor project(const Tensor& from, unsigned channels, const std::string& added = "");
    Tensor same_shape(const Tensor& from);
    Tensor other_shape(const Tensor& from);
    /// channels x 1 x 1.
    Tensor pooled(const Tensor& from);
    Tensor attention(const Tensor& from, bool over_input);
    Tensor pool_over_input(const Tensor& from);
    Tensor merge(const std::vector<Tensor>& sources, bool exclusive);
    /// Scaled by the largest channel of a gate on the same branches.
    Tensor scaled(const Tensor& from, const std::string& gate);
    /// A layer for each group of channels of the branches of `gate`.
    std::vector<Tensor> grouped(const Tensor& gate, unsigned groups, unsigned channels);
    void sink(const std::string& from);
    /// One decision a sample: N outputs behind these steps.
    std::string gate(const Tensor& data, unsigned outputs, const std::string& fused, bool with_parameters);
    /// A line of `layers` for a switch.
    void add_switch(const std::string& keys) { lines_.push_back(keys); }

    /// `templates` and `layers` of the model file.
    std::string text() const;

private:
    /// Steps that a layer may have.
    struct Steps {
        const Tensor* like = nullptr;  ///< of the result's shape, on the same branches: may be added
        std::string added;             ///< must be added
        bool operand = true;           ///< may have an add or a scale
    };

    Tensor layer(const std::string& kind, const Tensor& from, Shape shape, const std::string& keys, const Steps& steps);
    std::string fused(const Tensor& from, const Shape& shape, const Steps& steps, const std::string& name);
    std::string parameters(const std::string& name, bool always = false);
    Tensor convolution(const Tensor& from, unsigned channels);
    Tensor window(const Tensor& from);
    Tensor from_template(const Tensor& from);
    /// A tensor of C x 1 x 1 that scales samples.
    std::string factor(const Tensor& from);

    RandomSource& random_;
    FormatUse use_;
    unsigned samples_per_input_, max_channels_;
    unsigned names_ = 0;
    std::vector<std::string> lines_, templates_;
};

enum class SwitchKind { exclusive, any };

/// Switches with gates and routers of every kind, and the routes of their samples.
class FormatSwitches {
public:
    FormatSwitches(FormatLayers& layers, unsigned batch_inputs)
        : layers_(layers), random_(layers.random()), batch_samples_(batch_inputs * layers.samples_per_input()) {}

    /// A switch on `data` with a gate or a router of its own. Returns its name. `inside`: on a branch of another one.
    std::string on(const Tensor& data, unsigned branches, SwitchKind kind, bool inside);
    /// An exit by patience; its gate has as many outputs as labels.
    std::string with_patience(const Tensor& data, unsigned patience, unsigned labels);

    /// Of the last switch; empty: it has a router by number.
    const std::string& gate() const { return gate_; }

    /// `routing` of the model file.
    std::string routing();

private:
    std::string exclusive_router(const std::string& name, unsigned branches, bool inside, bool& by_number);
    std::string any_router(const std::string& name, unsigned branches);
    std::string gate_steps(bool relu_alone);
    void declare(const std::string& name, const std::string& routes);
    std::string exclusive_routes(unsigned branches);
    std::string any_routes(unsigned branches);

    FormatLayers& layers_;
    RandomSource& random_;
    unsigned batch_samples_;
    unsigned task_branches_ = 0;
    bool hashes_ = false;
    std::string gate_;
    std::vector<std::string> routes_;
};

}  // namespace switchyard::testing
