// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/sushi/subgraph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::sched::sushi {

namespace {

constexpr std::size_t kMaxWindows = 64;  ///< first layers that are tried of a base

/// The slices of `base`, in the order of `tensors`, as far as they fit.
std::vector<WeightSlice> fill(const Supernet& supernet, const std::vector<WeightSlice>& base,
                              const std::vector<std::size_t>& tensors, std::uint64_t capacity) {
    std::vector<WeightSlice> slices(base.size());
    for (const std::size_t t : tensors) {
        const std::uint64_t kernel = WeightSlice{1, base[t].channels}.bytes(supernet.tensors[t].side);
        if (kernel == 0) continue;
        const auto kernels = static_cast<std::uint32_t>(std::min<std::uint64_t>(base[t].kernels, capacity / kernel));
        if (kernels == 0) continue;
        slices[t] = {kernels, base[t].channels};
        capacity -= kernels * kernel;
    }
    return slices;
}

/// All kernels by the largest factor that fits.
std::vector<WeightSlice> scale(const Supernet& supernet, const std::vector<WeightSlice>& base, std::uint64_t capacity) {
    const auto scaled = [&base](double factor) {
        std::vector<WeightSlice> slices = base;
        for (WeightSlice& slice : slices) {
            slice.kernels = static_cast<std::uint32_t>(slice.kernels * factor);
            if (slice.kernels == 0) slice.channels = 0;
        }
        return slices;
    };
    double low = 0, high = 1;
    if (bytes_of(supernet, base) <= capacity) return base;
    for (int i = 0; i < 40; ++i) {
        const double middle = (low + high) / 2;
        (bytes_of(supernet, scaled(middle)) <= capacity ? low : high) = middle;
    }
    return scaled(low);
}

/// Tensors by multiply-accumulates for each byte, least first: computation hides their fetching least.
std::vector<std::size_t> by_intensity(const Supernet& supernet) {
    std::vector<double> intensity(supernet.tensors.size());
    for (const SubNet& subnet : supernet.subnets)
        for (const LayerUse& use : subnet.layers)
            intensity[use.tensor] = std::max(intensity[use.tensor], static_cast<double>(use.layer.positions()));
    std::vector<std::size_t> order(supernet.tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return intensity[a] < intensity[b]; });
    return order;
}

}  // namespace

Encoding encode(const std::vector<WeightSlice>& slices) {
    Encoding encoding;
    encoding.reserve(2 * slices.size());
    for (const WeightSlice& slice : slices) {
        encoding.push_back(slice.kernels);
        encoding.push_back(slice.channels);
    }
    return encoding;
}

double distance(const Encoding& a, const Encoding& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
}

double hit_ratio(const Encoding& subnet, const Encoding& subgraph) {
    double both = 0, all = 0;
    for (std::size_t i = 0; i < subgraph.size(); ++i) {
        const double shared = std::min(subnet[i], subgraph[i]);
        both += shared * shared;
        all += subgraph[i] * subgraph[i];
    }
    return all == 0 ? 0 : std::sqrt(both / all);
}

std::vector<SubGraph> candidate_subgraphs(const Supernet& supernet, std::uint64_t capacity, std::size_t count) {
    struct Base {
        std::string name;
        std::vector<WeightSlice> slices;
    };
    std::vector<Base> bases;
    std::vector<const SubNet*> by_size;
    for (const SubNet& subnet : supernet.subnets) {
        bases.push_back({subnet.name, slices_of(supernet, subnet)});
        by_size.push_back(&subnet);
    }
    std::stable_sort(by_size.begin(), by_size.end(),
                     [](const SubNet* a, const SubNet* b) { return a->weight_bytes() < b->weight_bytes(); });
    for (std::size_t i = 0; i + 1 < by_size.size(); ++i) {
        Base base{by_size[i]->name + "&" + by_size[i + 1]->name, slices_of(supernet, *by_size[i])};
        const std::vector<WeightSlice> other = slices_of(supernet, *by_size[i + 1]);
        for (std::size_t t = 0; t < other.size(); ++t) base.slices[t] = base.slices[t].shared_with(other[t]);
        bases.push_back(std::move(base));
    }
    std::vector<SubGraph> found;
    const auto add = [&](const std::string& name, std::vector<WeightSlice> slices) {
        const bool known =
            std::any_of(found.begin(), found.end(), [&](const SubGraph& g) { return g.slices == slices; });
        if (!known && found.size() < count && bytes_of(supernet, slices) > 0)
            found.push_back({name, std::move(slices)});
    };
    const std::vector<std::size_t> intensity = by_intensity(supernet);
    for (const Base& base : bases) add(base.name + "/intensity", fill(supernet, base.slices, intensity, capacity));
    for (const Base& base : bases) add(base.name + "/scaled", scale(supernet, base.slices, capacity));
    const std::size_t tensors = supernet.tensors.size(), windows = std::min(tensors, kMaxWindows);
    for (std::size_t w = 0; w < windows; ++w)
        for (const Base& base : bases) {
            std::vector<std::size_t> order;
            for (std::size_t i = 0; i < tensors; ++i) order.push_back((w * tensors / windows + i) % tensors);
            add(fmt::format("{}/from_{}", base.name, supernet.tensors[order.front()].name),
                fill(supernet, base.slices, order, capacity));
        }
    return found;
}

std::vector<SubGraph> read_subgraphs(const std::string& path, const Supernet& supernet, std::uint64_t capacity) {
    const YAML::Node root = load_yaml(path);
    if (!root.IsMap()) throw InputError(path, line_of(root), "", "expected a mapping with subgraphs, found none");
    MappingReader reader(root, path, "");
    std::vector<SubGraph> subgraphs;
    for (const YAML::Node& node : reader.list("subgraphs")) {
        MappingReader mapping(node, path, "subgraphs");
        SubGraph subgraph{mapping.text("name"), std::vector<WeightSlice>(supernet.tensors.size())};
        mapping.rename("subgraphs." + subgraph.name);
        MappingReader slices = mapping.mapping("slices");
        for (const auto& [name, value] : slices.nodes()) {
            const auto tensor = std::find_if(supernet.tensors.begin(), supernet.tensors.end(),
                                             [&name = name](const Tensor& t) { return t.name == name; });
            if (tensor == supernet.tensors.end()) slices.fail(name, "expected a tensor of the supernet, found " + name);
            const std::vector<double> sizes = slices.numbers(name, 1, 1 << 20);
            if (sizes.size() != 2)
                slices.fail(name, fmt::format("expected [kernels, channels], found {} numbers", sizes.size()));
            const WeightSlice slice{static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1])};
            if (!(slice.shared_with(tensor->whole) == slice))
                slices.fail(name, fmt::format("expected a slice within the tensor of {} x {}, found a larger one",
                                              tensor->whole.kernels, tensor->whole.channels));
            subgraph.slices[static_cast<std::size_t>(tensor - supernet.tensors.begin())] = slice;
        }
        mapping.finish();
        const std::uint64_t bytes = bytes_of(supernet, subgraph.slices);
        if (bytes > capacity)
            mapping.fail("slices", fmt::format("expected at most the {} bytes of the persistent buffer, found {}",
                                               capacity, bytes));
        subgraphs.push_back(std::move(subgraph));
    }
    reader.finish();
    if (subgraphs.empty()) throw InputError(path, 0, "subgraphs", "expected at least one SubGraph, found none");
    return subgraphs;
}

}  // namespace switchyard::sched::sushi
