// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/sushi/supernet.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/crc32.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/sushi/supernet_families.h"

namespace switchyard::sched::sushi {

std::uint64_t SubNet::weight_bytes() const {
    std::uint64_t sum = 0;
    for (const LayerUse& use : layers) sum += use.layer.weight_bytes();
    return sum;
}

std::uint64_t SubNet::macs() const {
    std::uint64_t sum = 0;
    for (const LayerUse& use : layers) sum += use.layer.macs();
    return sum;
}

std::uint64_t Supernet::bytes() const {
    std::uint64_t sum = 0;
    for (const Tensor& tensor : tensors) sum += tensor.bytes();
    return sum;
}

std::uint64_t Supernet::shared_bytes() const {
    std::vector<WeightSlice> shared = slices_of(*this, subnets.front());
    for (const SubNet& subnet : subnets) {
        const std::vector<WeightSlice> slices = slices_of(*this, subnet);
        for (std::size_t t = 0; t < shared.size(); ++t) shared[t] = shared[t].shared_with(slices[t]);
    }
    return bytes_of(*this, shared);
}

std::vector<WeightSlice> slices_of(const Supernet& supernet, const SubNet& subnet) {
    std::vector<WeightSlice> slices(supernet.tensors.size());
    for (const LayerUse& use : subnet.layers) {
        const WeightSlice weights = use.layer.weights();
        WeightSlice& slice = slices[use.tensor];
        slice = {std::max(slice.kernels, weights.kernels), std::max(slice.channels, weights.channels)};
    }
    return slices;
}

std::uint64_t bytes_of(const Supernet& supernet, const std::vector<WeightSlice>& slices) {
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < slices.size(); ++t) sum += slices[t].bytes(supernet.tensors[t].side);
    return sum;
}

std::uint64_t shared_bytes(const Supernet& supernet, const std::vector<WeightSlice>& a,
                           const std::vector<WeightSlice>& b) {
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < a.size(); ++t) sum += a[t].shared_with(b[t]).bytes(supernet.tensors[t].side);
    return sum;
}

int append_layer(const Supernet& supernet, SubNet& subnet, const MappingReader& from, const std::string& tensor,
                 LayerUse use) {
    const auto found = std::find_if(supernet.tensors.begin(), supernet.tensors.end(),
                                    [&](const Tensor& candidate) { return candidate.name == tensor; });
    if (found == supernet.tensors.end())
        from.fail("", fmt::format("expected a tensor of the supernet, found {}", tensor));
    const WeightSlice wanted = use.layer.weights();
    if (use.layer.side != found->side || wanted.kernels > found->whole.kernels ||
        wanted.channels > found->whole.channels)
        from.fail(
            "", fmt::format(
                    "does not nest: expected for layer {} a tensor of at least {} x {} x {}x{}, found {} x {} x {}x{}",
                    use.name, wanted.kernels, wanted.channels, use.layer.side, use.layer.side, found->whole.kernels,
                    found->whole.channels, found->side, found->side));
    use.tensor = static_cast<std::uint32_t>(found - supernet.tensors.begin());
    subnet.layers.push_back(std::move(use));
    return static_cast<int>(subnet.layers.size()) - 1;
}

namespace {

/// A layer of a supernet that lists them, at its largest.
struct ListedLayer {
    std::string name;
    Convolution layer;
    bool elastic_channels = true;
    std::string from;           ///< a layer; empty: the last one of the SubNet
    std::string adds_input_of;  ///< a layer; empty: no residual
    LayerQuantisation quantisation;
};

ListedLayer read_layer(MappingReader reader) {
    ListedLayer listed;
    listed.name = reader.text("name");
    const auto number = [&reader](const char* key, std::uint32_t high, std::uint32_t fallback) {
        return static_cast<std::uint32_t>(reader.integer_or(key, 1, high, fallback));
    };
    Convolution& layer = listed.layer;
    layer.kernels = number("kernels", 1 << 20, 1);
    layer.channels = number("channels", 1 << 20, 1);
    layer.side = number("side", 31, 1);
    if (layer.side % 2 == 0) reader.fail("side", "expected an odd number, found an even one");
    layer.stride = number("stride", 16, 1);
    layer.depthwise = reader.choice_or("depthwise", {"no", "yes"}) == "yes";
    layer.sums_pixels = reader.choice_or("sums_pixels", {"no", "yes"}) == "yes";
    listed.from = reader.text_or("from", "");
    // Of what is pooled before the layer.
    layer.height = layer.width = static_cast<std::uint32_t>(reader.integer_or("size", 1, 1 << 16, 0));
    listed.adds_input_of = reader.text_or("adds_input_of", "");
    layer.residual = !listed.adds_input_of.empty();
    listed.quantisation.m0 = static_cast<std::int32_t>(reader.integer_or("m0", 0, 0x7FFFFFFF, 1 << 30));
    listed.quantisation.shift = static_cast<std::uint32_t>(reader.integer_or("shift", 0, 31, 0));
    reader.finish();
    return listed;
}

/// A SubNet as the kernels of the layers that it has; channels are those of what it takes.
SubNet read_listed_subnet(const Supernet& supernet, const std::vector<ListedLayer>& layers, MappingReader& mapping) {
    SubNet subnet;
    std::map<std::string, std::uint32_t> kernels;
    const bool all = !mapping.has("kernels");
    if (!all) {
        MappingReader listed = mapping.mapping("kernels");
        for (const auto& [name, node] : listed.nodes())
            kernels[name] = static_cast<std::uint32_t>(listed.integer(name, 1, 1 << 20));
    }
    std::map<std::string, int> numbers;
    int last = -1;
    for (const ListedLayer& listed : layers) {
        LayerUse use;
        use.name = listed.name;
        use.layer = listed.layer;
        use.quantisation = listed.quantisation;
        if (!all) {
            const auto found = kernels.find(listed.name);
            if (found == kernels.end()) continue;
            use.layer.kernels = found->second;
            kernels.erase(found);
        }
        const auto number_of_layer = [&](const std::string& name) {
            const auto found = numbers.find(name);
            if (found == numbers.end())
                mapping.fail("",
                             fmt::format("expected for layer {} layer {} before it, found none", listed.name, name));
            return found->second;
        };
        use.input = listed.from.empty() ? last : number_of_layer(listed.from);
        const LayerUse* const input = use.input < 0 ? nullptr : &subnet.layers[static_cast<std::size_t>(use.input)];
        use.layer.channels = input == nullptr ? supernet.channels : input->layer.kernels;
        if (listed.layer.height == 0) {
            use.layer.height = input == nullptr ? supernet.height : input->layer.output_height();
            use.layer.width = input == nullptr ? supernet.width : input->layer.output_width();
        }
        if (use.layer.depthwise && use.layer.kernels != use.layer.channels)
            mapping.fail("", fmt::format("expected as many kernels as channels in depthwise layer {}, found {} for {}",
                                         listed.name, use.layer.kernels, use.layer.channels));
        if (use.layer.residual) {
            use.residual = subnet.layers[static_cast<std::size_t>(number_of_layer(listed.adds_input_of))].input;
            const std::uint32_t added = use.residual < 0
                                            ? supernet.channels
                                            : subnet.layers[static_cast<std::size_t>(use.residual)].layer.kernels;
            if (added != use.layer.kernels)
                mapping.fail("", fmt::format("expected as many channels as layer {} adds to, found {} for {}",
                                             listed.name, added, use.layer.kernels));
        }
        last = append_layer(supernet, subnet, mapping, listed.name, use);
        numbers[listed.name] = last;
    }
    if (!kernels.empty())
        mapping.fail("kernels", fmt::format("expected a layer of the supernet, found {}", kernels.begin()->first));
    if (subnet.layers.empty()) mapping.fail("kernels", "expected at least one layer, found none");
    return subnet;
}

}  // namespace

Supernet read_supernet(const std::string& path) {
    const YAML::Node root = load_yaml(path);
    if (!root.IsMap()) throw InputError(path, line_of(root), "", "expected a mapping of a supernet, found none");
    MappingReader reader(root, path, "");
    reader.allow({"name", "family", "accuracy_source", "input", "layers", "weights", "inputs", "logits", "subnets"});
    Supernet supernet;
    const std::string plain = YAML::Dump(root);
    supernet.contents = crc32_of(plain.data(), plain.size());
    supernet.name = reader.text("name");
    const std::string family = reader.choice_or("family", {"layers", "ofa_resnet50", "ofa_mobilenet_v3"});
    supernet.accuracy_source = reader.text("accuracy_source");
    for (const auto& [key, file] :
         {std::pair{"weights", &supernet.weights}, {"inputs", &supernet.inputs}, {"logits", &supernet.logits}})
        if (reader.has(key))
            *file = (std::filesystem::path(path).parent_path() / reader.text(key)).lexically_normal().string();
    if (supernet.weights.empty() != supernet.inputs.empty() || supernet.weights.empty() != supernet.logits.empty())
        reader.fail("weights", "expected weights, inputs and logits together, found one without another");
    if (reader.has("input")) {
        MappingReader input = reader.mapping("input");
        supernet.channels = static_cast<std::uint32_t>(input.integer("channels", 1, 1 << 16));
        supernet.height = static_cast<std::uint32_t>(input.integer("height", 1, 1 << 16));
        supernet.width = static_cast<std::uint32_t>(input.integer("width", 1, 1 << 16));
        input.finish();
    }
    std::vector<ListedLayer> layers;
    if (family == "layers") {
        for (const YAML::Node& node : reader.list("layers")) {
            layers.push_back(read_layer(MappingReader(node, path, "layers")));
            const ListedLayer& listed = layers.back();
            supernet.tensors.push_back({listed.name, listed.layer.weights(), listed.layer.side});
        }
    } else {
        if (supernet.height != supernet.width)
            reader.fail("input",
                        fmt::format("expected a square input, found {} x {}", supernet.height, supernet.width));
        family == "ofa_resnet50" ? add_resnet_tensors(supernet) : add_mobilenet_tensors(supernet);
    }
    for (const YAML::Node& node : reader.list("subnets")) {
        MappingReader mapping(node, path, "subnets");
        const std::string name = mapping.text("name");
        mapping.rename("subnets." + name);
        const double accuracy = mapping.number_or("accuracy", 0, 100, 0);
        SubNet subnet = family == "ofa_resnet50"       ? read_resnet_subnet(supernet, mapping)
                        : family == "ofa_mobilenet_v3" ? read_mobilenet_subnet(supernet, mapping)
                                                       : read_listed_subnet(supernet, layers, mapping);
        mapping.finish();
        subnet.name = name;
        subnet.accuracy = accuracy;
        supernet.subnets.push_back(std::move(subnet));
    }
    if (supernet.subnets.empty()) reader.fail("subnets", "expected at least one SubNet, found none");
    reader.finish();
    return supernet;
}

}  // namespace switchyard::sched::sushi
