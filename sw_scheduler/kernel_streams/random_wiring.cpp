// SPDX-License-Identifier: Apache-2.0
// Randomly wired networks (arXiv 1904.01569), regular regime, as in JiaminRen/RandWireNN: connected Watts-Strogatz
// graphs, edges from the lower to the higher number, a node sums its inputs with learned weights and applies ReLU, a
// separable 3x3 convolution and batch norm; nodes without input read the stage's input with stride 2; the outputs are
// averaged. The graph is drawn once for the network (`graph_seed`), not for an input.
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/random_source.h"
#include "switchyard/sw_scheduler/kernel_streams/generators.h"
#include "switchyard/sw_scheduler/kernel_streams/network_layers.h"

namespace switchyard::sched {

namespace {

using Edges = std::set<std::pair<unsigned, unsigned>>;

bool connected(unsigned nodes, const Edges& edges) {
    std::vector<bool> seen(nodes, false);
    std::vector<unsigned> open{0};
    seen[0] = true;
    while (!open.empty()) {
        const unsigned node = open.back();
        open.pop_back();
        for (const auto& [a, b] : edges)
            for (const unsigned other : {a == node ? b : node, b == node ? a : node})
                if (!seen[other]) {
                    seen[other] = true;
                    open.push_back(other);
                }
    }
    for (const bool reached : seen)
        if (!reached) return false;
    return true;
}

/// Watts and Strogatz (Nature 393, 1998): a ring in which each node has `neighbours` edges; each edge's far end moves
/// to a random node with probability `rewire`. Drawn again until the graph is connected.
Edges watts_strogatz(unsigned nodes, unsigned neighbours, double rewire, RandomSource& random) {
    const auto edge = [](unsigned a, unsigned b) { return std::make_pair(std::min(a, b), std::max(a, b)); };
    for (;;) {
        Edges edges;
        for (unsigned distance = 1; distance <= neighbours / 2; ++distance)
            for (unsigned node = 0; node < nodes; ++node) edges.insert(edge(node, (node + distance) % nodes));
        for (unsigned distance = 1; distance <= neighbours / 2; ++distance) {
            for (unsigned node = 0; node < nodes; ++node) {
                if (!random.chance(rewire)) continue;
                const auto old = edge(node, (node + distance) % nodes);
                if (edges.count(old) == 0) continue;
                std::vector<unsigned> free;
                for (unsigned other = 0; other < nodes; ++other)
                    if (other != node && edges.count(edge(node, other)) == 0) free.push_back(other);
                if (free.empty()) continue;
                edges.erase(old);
                edges.insert(edge(node, random.choose(free)));
            }
        }
        if (connected(nodes, edges)) return edges;
    }
}

struct Wiring {
    std::uint32_t nodes, channels, neighbours, image, classes;
    std::uint64_t graph_seed;
    double rewire;
};

FeatureMap separable(NetworkLayers& net, const FeatureMap& x, std::uint32_t channels, std::uint32_t stride) {
    return net.convolution(net.depthwise(x, Filter::square(3, stride)), channels, Filter::square(1));
}

FeatureMap stage(NetworkLayers& net, const FeatureMap& input, std::uint32_t channels, unsigned nodes,
                 const Edges& edges) {
    std::vector<std::vector<unsigned>> from(nodes);
    std::vector<bool> read(nodes, false);
    for (const auto& [low, high] : edges) {
        from[high].push_back(low);
        read[low] = true;
    }
    std::vector<FeatureMap> results;
    std::vector<FeatureMap> outputs;
    for (unsigned node = 0; node < nodes; ++node) {
        FeatureMap x = input;
        if (!from[node].empty()) {
            std::vector<FeatureMap> terms;
            for (const unsigned source : from[node]) {
                FeatureMap term = results[source];
                if (from[node].size() > 1) term = net.scale(term, net.sigmoid(net.input(1, 1, 1)));
                terms.push_back(term);
            }
            x = net.sum(terms);
        }
        results.push_back(net.batch_norm(separable(net, net.relu(x), channels, from[node].empty() ? 2 : 1)));
        if (!read[node]) outputs.push_back(results.back());
    }
    const FeatureMap sum = net.sum(outputs);
    return outputs.size() > 1 ? net.scale(sum, net.input(1, 1, 1)) : sum;
}

GeneratedStream generate_wired(const Wiring& wiring) {
    StreamBuilder stream;
    NetworkLayers net(stream);
    RandomSource random(wiring.graph_seed, 0);
    FeatureMap x = net.batch_norm(separable(net, net.input(3, wiring.image, wiring.image), wiring.channels / 2, 2));
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned nodes = i == 0 ? wiring.nodes / 2 : wiring.nodes;
        const Edges edges = watts_strogatz(nodes, wiring.neighbours, wiring.rewire, random);
        x = stage(net, x, wiring.channels << i, nodes, edges);
    }
    x = net.relu(net.batch_norm(net.convolution(net.relu(x), 1280, Filter::square(1))));
    net.linear(net.global_pool(x), wiring.classes);
    return {stream.take(), net.multiply_accumulates(), net.parameters()};
}

}  // namespace

StreamGenerator read_random_wiring(MappingReader& file) {
    const auto number = [&](const char* key, std::uint64_t low, std::uint64_t high, std::uint64_t otherwise) {
        return static_cast<std::uint32_t>(file.integer_or(key, low, high, otherwise));
    };
    Wiring wiring;
    wiring.nodes = number("nodes", 8, 256, 32);
    wiring.channels = number("channels", 2, 4096, 109);
    wiring.neighbours = number("neighbours", 2, 64, 4);
    wiring.image = number("image", 32, 4096, 224);
    wiring.classes = number("classes", 1, 1 << 20, 1000);
    wiring.graph_seed = file.integer_or("graph_seed", 0, UINT32_MAX, 1);
    wiring.rewire = file.number_or("rewire", 0, 1, 0.75);
    if (wiring.neighbours % 2 != 0)
        file.fail("neighbours", fmt::format("expected an even number, found {}", wiring.neighbours));
    if (wiring.neighbours >= wiring.nodes / 2)
        file.fail("neighbours", fmt::format("expected fewer than the {} nodes of the smallest stage, found {}",
                                            wiring.nodes / 2, wiring.neighbours));
    return [wiring](const StreamRequest&) { return generate_wired(wiring); };
}

}  // namespace switchyard::sched
