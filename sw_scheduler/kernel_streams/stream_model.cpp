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
    bool input_dependent;
};

constexpr GeneratorKind kKinds[] = {{"brax", read_brax, false},
                                    {"squeezenet", read_squeezenet, false},
                                    {"nasnet", read_nasnet, false},
                                    {"amoebanet", read_amoebanet, false},
                                    {"random_wiring", read_random_wiring, false},
                                    {"instanas", read_instanas, true},
                                    {"dynamic_routing", read_dynamic_routing, true},
                                    {"condconv", read_condconv, false},
                                    {"recorded", read_recorded, false}};

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
        file.fail("generator", fmt::format("\"{}\" is none of {}", model.generator, fmt::join(names, ", ")));
    }
    model.input_dependent = kind->input_dependent;
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
