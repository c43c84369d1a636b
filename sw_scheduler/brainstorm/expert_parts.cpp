// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/brainstorm/expert_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/brainstorm/layer_edits.h"
#include "switchyard/sw_scheduler/workload/number_tensors.h"

namespace switchyard::sched::brainstorm {

namespace {

/// What stands for a merge in the part behind it: the results of a sample lie side by side and are added up, then comes
/// what the merge fuses. Nothing if there is nothing to do.
std::vector<LayerSpec> joined_results(const LayerSpec& merge, std::size_t results) {
    std::vector<LayerSpec> layers;
    if (results == 1 && merge.fused.empty()) return layers;
    for (std::size_t i = 0; i < results; ++i) {
        const bool last = i + 1 == results;
        LayerSpec layer =
            layer_of(last ? merge.name : fmt::format("{}.result{}", merge.name, i), LayerKind::elementwise, "input");
        layer.groups = static_cast<std::uint16_t>(results);
        layer.group = static_cast<std::uint16_t>(i);
        if (i > 0) {
            layer.fused.push_back(FusedStep::add);
            layer.added = layers.back().name;
        }
        if (last) {
            layer.fused.insert(layer.fused.end(), merge.fused.begin(), merge.fused.end());
            layer.norm_parameters = merge.norm_parameters;
            layer.position_parameters = merge.position_parameters;
        }
        layers.push_back(std::move(layer));
    }
    return layers;
}

/// What a router by number has in place of a gate.
LayerSpec numbers_layer(const LayerSpec& router) {
    const bool task = router.router && router.router->kind == CellRouter::Kind::task;
    return layer_of(router.name + ".numbers", LayerKind::elementwise, task ? kTasksTensor : kSamplesTensor);
}

void add_output(ModelLayers& part, const std::string& tensor) {
    if (std::find(part.outputs.begin(), part.outputs.end(), tensor) == part.outputs.end())
        part.outputs.push_back(tensor);
}

}  // namespace

ExpertParts::ExpertParts(const std::string& path, const Model& model, const std::vector<std::size_t>& results) {
    const ModelLayers file = read_model_layers(path);
    name_ = file.name;
    experts_ = find_experts(path, file, model, results);
    for (const ExpertLayer& layer : experts_) {
        inside_.insert({layer.router.name, layer.merge.name});
        for (const ExpertLayer::Region& region : layer.regions)
            for (const LayerSpec& one : region.layers) inside_.insert(one.name);
    }
    divide_rest(path, file);
}

std::map<std::string, std::size_t> ExpertParts::sections(const std::vector<LayerSpec>& layers) const {
    std::map<std::string, std::size_t> section_of;
    std::map<std::string, std::size_t> merge_number;
    for (std::size_t i = 0; i < experts_.size(); ++i) merge_number[experts_[i].merge.name] = i;
    for (const LayerSpec& layer : layers) section_of[layer.name] = 0;
    // What a merge gives comes behind its switch, whatever the order in the file.
    for (bool grown = true; grown;) {
        grown = false;
        const auto raise = [&](const std::string& name, std::size_t to) {
            if (section_of[name] >= to) return;
            section_of[name] = to;
            grown = true;
        };
        for (const LayerSpec& layer : layers) {
            if (const auto merge = merge_number.find(layer.name); merge != merge_number.end()) {
                raise(layer.name, section_of[experts_[merge->second].router.name] + 1);
            } else if (inside_.count(layer.name) == 0 || layer.kind == LayerKind::switching) {
                for (const std::string& tensor : tensors_of(layer))
                    if (const auto found = section_of.find(tensor); found != section_of.end())
                        raise(layer.name, found->second);
            }
        }
    }
    return section_of;
}

void ExpertParts::divide_rest(const std::string& path, const ModelLayers& file) {
    const std::map<std::string, std::size_t> section_of = sections(file.layers);
    for (std::size_t i = 0; i < experts_.size(); ++i)
        if (section_of.at(experts_[i].router.name) != i)
            fail_at(path, experts_[i].router,
                    fmt::format("expected behind the merge of \"{}\", as layers of experts on several devices follow "
                                "one another, found elsewhere",
                                experts_[i == 0 ? 0 : i - 1].router.name));
    for (std::size_t i = 0; i <= experts_.size(); ++i) {
        ModelLayers part = section(path, file, i, section_of);
        if (part.layers.empty())
            between_.emplace_back();
        else
            between_.emplace_back(std::move(part));
    }
}

ModelLayers ExpertParts::section(const std::string& path, const ModelLayers& file, std::size_t number,
                                 const std::map<std::string, std::size_t>& section_of) const {
    const bool last = number == experts_.size();
    ModelLayers part = file;
    part.name += number == 0 ? ".front" : last ? ".back" : fmt::format(".middle{}", number);
    part.layers.clear();
    part.outputs.clear();
    std::string begin = "input";  // the tensor with which the part begins, as the file calls it
    bool plain = true;            // and which is the part's input
    if (number > 0) {
        const ExpertLayer& before = experts_[number - 1];
        const LayerSpec& merge = before.merge;
        begin = merge.name;
        part.input = before.result;
        part.input.channels = static_cast<std::uint16_t>(before.result.channels * before.results);
        part.layers = joined_results(merge, before.results);
        plain = part.layers.empty();
    }
    const auto in_section = [&](const std::string& tensor) {
        const auto found = section_of.find(tensor);
        return found != section_of.end() ? found->second == number : number == 0;
    };
    const auto check = [&](const LayerSpec& layer) {
        for (const std::string& tensor : tensors_of(layer))
            if (!in_section(tensor))
                fail_at(path, layer,
                        fmt::format("expected inputs behind the experts, as this layer is, found \"{}\"", tensor));
    };
    for (const LayerSpec& layer : file.layers) {
        if (inside_.count(layer.name) != 0 || section_of.at(layer.name) != number) continue;
        check(layer);
        part.layers.push_back(layer);
        if (plain) rename_tensor(part.layers.back(), begin, "input");
    }
    if (!last) {
        const LayerSpec& router = experts_[number].router;
        check(router);
        if (router.from.front() != begin || !plain) add_output(part, router.from.front());
        if (!router.gate.empty()) {
            add_output(part, router.gate);
        } else {
            part.layers.push_back(numbers_layer(router));
            add_output(part, part.layers.back().name);
        }
    }
    for (const std::string& output : file.outputs) {
        const bool merged = std::any_of(experts_.begin(), experts_.end(),
                                        [&](const ExpertLayer& layer) { return layer.merge.name == output; });
        if (!merged && inside_.count(output) != 0)
            fail_at(path, experts_.front().router,
                    fmt::format("expected outputs outside of the experts, found \"{}\" within one", output));
        if (in_section(output) && (output != begin || !plain)) add_output(part, output);
    }
    return part;
}

ModelLayers ExpertParts::on_device(std::size_t number, const std::vector<std::size_t>& local,
                                   std::uint32_t capacity) const {
    const ExpertLayer& experts = experts_.at(number);
    return experts_on_device(name_ + (experts_.size() == 1 ? ".experts" : "." + experts.router.name), experts, local,
                             capacity);
}

}  // namespace switchyard::sched::brainstorm
