// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/ace/kernel_graph.h"

#include <algorithm>

#include <boost/dynamic_bitset.hpp>

namespace switchyard::sched::ace {

std::vector<std::vector<KernelNumber>> kernel_graph(const std::vector<Footprint>& kernels, DependenceRule rule) {
    std::vector<std::vector<KernelNumber>> graph(kernels.size());
    // Of each kernel all that it waits for, directly or not.
    std::vector<boost::dynamic_bitset<>> before;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        boost::dynamic_bitset<> covered(kernels.size());
        for (std::size_t earlier = k; earlier-- > 0;) {
            if (covered[earlier] || !depends_on(kernels[k], kernels[earlier], rule)) continue;
            graph[k].push_back(earlier);
            covered |= before[earlier];
            covered.set(earlier);
        }
        std::reverse(graph[k].begin(), graph[k].end());
        before.push_back(std::move(covered));
    }
    return graph;
}

std::size_t longest_chain(const std::vector<std::vector<KernelNumber>>& graph) {
    std::vector<std::size_t> length(graph.size(), 1);
    std::size_t longest = 0;
    for (std::size_t k = 0; k < graph.size(); ++k) {
        for (const KernelNumber from : graph[k]) length[k] = std::max(length[k], length[from] + 1);
        longest = std::max(longest, length[k]);
    }
    return longest;
}

std::vector<unsigned> assign_streams(const std::vector<std::vector<KernelNumber>>& graph, unsigned streams) {
    std::vector<unsigned> result(graph.size());
    std::vector<bool> continued(graph.size(), false);
    std::vector<std::size_t> load(streams, 0);
    for (std::size_t k = 0; k < graph.size(); ++k) {
        auto stream = static_cast<unsigned>(std::min_element(load.begin(), load.end()) - load.begin());
        for (auto from = graph[k].rbegin(); from != graph[k].rend(); ++from) {
            if (continued[*from]) continue;
            continued[*from] = true;
            stream = result[*from];
            break;
        }
        result[k] = stream;
        ++load[stream];
    }
    return result;
}

}  // namespace switchyard::sched::ace
