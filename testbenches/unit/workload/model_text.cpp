// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"

#include "switchyard/testbenches/catch.h"

namespace switchyard::sched {

TextFile::TextFile(const std::string& name, const std::string& text)
    : folder_("switchyard-text"), path_(folder_.file(name, text)) {}

const Operator& named(const DynGraph& graph, const std::string& name) {
    const int id = graph.find_operator(name);
    INFO(name);
    REQUIRE(id >= 0);
    return graph.operators[static_cast<std::size_t>(id)];
}

Model model_of(const std::string& yaml) {
    const TextFile file("model.yaml", yaml);
    return read_model(file.path());
}

std::string refusal_of(const std::string& yaml) {
    const TextFile file("model.yaml", yaml);
    try {
        read_model(file.path());
    } catch (const InputError& error) {
        const std::string message = error.what();
        return message.substr(message.find("model.yaml"));
    }
    return {};
}

std::string with_layers(const std::string& layers) {
    return "name: t\nbatch: 8\ninput: {channels: 16, rows: 8, columns: 8}\nlayers:\n" + layers;
}

std::string with_switch(const std::string& layers, const std::string& branches) {
    return with_layers(
        "  - {name: stem, kind: elementwise, from: input}\n"
        "  - {name: mean, kind: global_pool, from: stem}\n"
        "  - {name: gate, kind: matmul, from: mean, out_channels: 1}\n"
        "  - {name: s, kind: switch, from: stem, gate: gate, " +
        branches + "}\n" + layers);
}

std::string four_experts(const std::string& mode) {
    std::string text;
    for (const char* branch : {"0", "1", "2", "3"})
        text += std::string("  - {name: e") + branch + ", kind: matmul, from: s." + branch + ", out_channels: 8}\n";
    return text + "  - {name: m, kind: merge, mode: " + mode + ", from: [e0, e1, e2, e3]}\n";
}

}  // namespace switchyard::sched
