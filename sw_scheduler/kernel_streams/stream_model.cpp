// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/kernel_streams/stream_model.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/kernel_streams/generators.h"

namespace switchyard::sched {

namespace {

struct GeneratorKind {
    const char* name;
    StreamGenerator (*read)(MappingReader&);
    bool input_dependent, graph_changes;
};

constexpr GeneratorKind kKinds[] = {{"brax", read_brax, false, true},
                                    {"squeezenet", read_squeezenet, false, false},
                                    {"nasnet", read_nasnet, false, false},
                                    {"amoebanet", read_amoebanet, false, false},
                                    {"random_wiring", read_random_wiring, false, false},
                                    {"instanas", read_instanas, true, true},
                                    {"dynamic_routing", read_dynamic_routing, true, true},
                                    {"condconv", read_condconv, false, true},
                                    {"recorded", read_recorded, false, true}};

}  // namespace

StreamModel read_stream_model(const std::string& path) {
    MappingReader file(load_yaml(path), path, "");
    StreamModel model;
    model.name = file.text("name");
    model.generator = file.text("generator");
    const GeneratorKind* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                             [&](const GeneratorKind& known) { return model.generator == known.name; });
    if (kind == std::end(kKinds)) {
        std::vector<std::string> names;
        for (const GeneratorKind& known : kKinds) names.emplace_back(known.name);
        file.fail("generator",
                  fmt::format("expected one of {}, found \"{}\"", fmt::join(names, ", "), model.generator));
    }
    model.input_dependent = kind->input_dependent;
    model.graph_changes = kind->graph_changes;
    model.generate = kind->read(file);
    file.finish();
    return model;
}

StreamGenerator read_recorded(MappingReader& file) {
    const std::filesystem::path stream = file.text("stream");
    const std::string path = (std::filesystem::path(file.file()).parent_path() / stream).string();
    return [path](const StreamRequest&) { return GeneratedStream{load_kernel_stream(path), 0, 0}; };
}

}  // namespace switchyard::sched
