// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "switchyard/sw_scheduler/training_streams/network_builders.h"

namespace switchyard::sched {

namespace {

struct State {
    TensorId cell = kNoTensor, hidden = kNoTensor;
};

constexpr std::uint64_t kClasses = 8;

void classify(StepRecorder& r, const TrainingNetworkConfig& c, TensorId hidden, std::uint64_t width) {
    r.at(0xFFFFFF, 0xFFFF);
    r.loss(r.linear(hidden, "classifier", c.batch, width, kClasses));
}

/// Cell of four gates; without an earlier state the products with it are left out.
State lstm_cell(StepRecorder& r, const TrainingNetworkConfig& c, const State& before) {
    const std::uint64_t width = c.width;
    TensorId gates =
        r.linear(r.input(std::uint64_t{c.batch} * c.input_width), "lstm.input", c.batch, c.input_width, 4 * width);
    gates = r.add(gates, r.linear(before.hidden, "lstm.hidden", c.batch, width, 4 * width));
    const std::vector<TensorId> gate = r.split(gates, 4);
    const TensorId in = r.sigmoid(gate[0]), forget = r.sigmoid(gate[1]), out = r.sigmoid(gate[2]);
    State after;
    after.cell = r.add(r.multiply(in, r.tanh(gate[3])), r.multiply(forget, before.cell));
    after.hidden = r.multiply(out, r.tanh(after.cell));
    return after;
}

/// Where the nodes of a tree stand in the program: leaves and inner nodes are counted apart. The n-th leaf reads the
/// n-th word in all trees, whatever stands before it.
class TreeSites {
public:
    std::uint64_t next(bool inner) { return inner ? 2 + 2 * inner_++ : 1 + 2 * leaves_++; }

private:
    std::uint64_t leaves_ = 0, inner_ = 0;
};

State tree_leaf(StepRecorder& r, const TrainingNetworkConfig& c) {
    const std::uint64_t width = c.width;
    const TensorId gates =
        r.linear(r.input(std::uint64_t{c.batch} * c.input_width), "tree.leaf", c.batch, c.input_width, 3 * width);
    const std::vector<TensorId> gate = r.split(gates, 3);
    State state;
    state.cell = r.multiply(r.sigmoid(gate[0]), r.tanh(gate[2]));
    state.hidden = r.multiply(r.sigmoid(gate[1]), r.tanh(state.cell));
    return state;
}

State tree_node(StepRecorder& r, const TrainingNetworkConfig& c, const State& left, const State& right) {
    const std::uint64_t width = c.width;
    const TensorId sum = r.add(left.hidden, right.hidden);
    const std::vector<TensorId> gate = r.split(r.linear(sum, "tree.node", c.batch, width, 3 * width), 3);
    const TensorId in = r.sigmoid(gate[0]), out = r.sigmoid(gate[1]), update = r.tanh(gate[2]);
    const auto kept = [&](const State& child) {
        return r.multiply(r.sigmoid(r.linear(child.hidden, "tree.forget", c.batch, width, width)), child.cell);
    };
    State state;
    const TensorId kept_left = kept(left), kept_right = kept(right);
    state.cell = r.add(r.add(r.multiply(in, update), kept_left), kept_right);
    state.hidden = r.multiply(out, r.tanh(state.cell));
    return state;
}

}  // namespace

void record_lstm(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions) {
    const std::uint64_t elements = std::uint64_t{c.batch} * c.width;
    r.at(0, 0);
    State state{r.input(elements), r.input(elements)};
    for (unsigned trip = 0; trip < trips_of(decisions); ++trip) {
        for (unsigned step = 0; step < c.segment; ++step) {
            r.at(1 + std::uint64_t{trip} * c.segment + step, 1 + step);
            state = lstm_cell(r, c, state);
        }
        r.control_flow(0);
    }
    classify(r, c, state.hidden, c.width);
}

void record_tree_lstm(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions) {
    std::vector<State> stack;
    TreeSites sites;
    for (const std::uint8_t decision : decisions) {
        const bool inner = decision != 0;
        r.at(sites.next(inner), inner ? 2 : 1);
        if (inner) {
            const State right = stack.back();
            stack.pop_back();
            stack.back() = tree_node(r, c, stack.back(), right);
        } else {
            stack.push_back(tree_leaf(r, c));
        }
        r.control_flow(0);
    }
    classify(r, c, stack.back().hidden, c.width);
}

void record_tree_cnn(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions) {
    const std::uint64_t pixels = std::uint64_t{c.image} * c.image;
    GpuOperator leaf;
    leaf.kind = GpuOperator::Kind::convolution;
    leaf.batch = c.batch;
    leaf.in_channels = c.input_width;
    leaf.out_channels = c.width;
    leaf.in_height = leaf.in_width = leaf.out_height = leaf.out_width = c.image;
    leaf.kernel = 3;
    GpuOperator inner = leaf;
    inner.in_channels = 2 * std::uint64_t{c.width};
    std::vector<TensorId> stack;
    TreeSites sites;
    for (std::size_t node = 0; node < decisions.size(); ++node) {
        const bool has_children = decisions[node] != 0;
        r.at(sites.next(has_children), has_children ? 2 : 1);
        TensorId map;
        if (has_children) {
            const TensorId right = stack.back();
            stack.pop_back();
            const TensorId pair = r.concatenate({stack.back(), right});
            stack.pop_back();
            map = r.convolution(pair, "tree.node", inner);
        } else {
            map = r.convolution(r.input(c.batch * pixels * c.input_width), "tree.leaf", leaf);
        }
        map = r.relu(map);
        // A window of 3 x 3 with a stride of 1: the map keeps its size.
        map = r.pool(map, c.batch * pixels * c.width);
        const TensorId score = r.sigmoid(r.mean(map, std::uint64_t{c.batch} * c.width));
        stack.push_back(map);
        r.control_flow(0);
        if (node + 1 == decisions.size()) classify(r, c, score, c.width);
    }
}

void record_unrolled_gan(StepRecorder& r, const TrainingNetworkConfig& c, const Decisions& decisions) {
    const std::uint64_t width = c.width, batch = c.batch;
    r.at(0, 0);
    TensorId fake = r.relu(r.linear(r.input(batch * c.input_width), "generator.1", batch, c.input_width, width));
    fake = r.relu(r.linear(fake, "generator.2", batch, width, width));
    TensorId first = r.parameter("discriminator.1", width * width);
    TensorId second = r.parameter("discriminator.2", width * width), score = kNoTensor;
    for (unsigned trip = 0; trip < trips_of(decisions); ++trip) {
        for (unsigned step = 0; step < c.segment; ++step) {
            r.at(1 + std::uint64_t{trip} * c.segment + step, 1 + step);
            const TensorId hidden = r.relu(r.product(fake, first, 1, batch, width, width));
            score = r.sigmoid(r.product(hidden, second, 1, batch, width, width));
            // The weights after the update are results like others, and are differentiated through.
            second = r.add(second, r.product(r.transpose(hidden), score, 1, width, batch, width));
            first = r.add(first, r.product(r.transpose(fake), hidden, 1, width, batch, width));
        }
        r.control_flow(0);
    }
    r.at(0xFFFFFE, 0xFFFE);
    classify(r, c, r.product(r.relu(r.product(fake, first, 1, batch, width, width)), second, 1, batch, width, width),
             width);
}

}  // namespace switchyard::sched
