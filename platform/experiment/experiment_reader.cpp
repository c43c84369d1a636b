// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/experiment.h"
#include "switchyard/platform/experiment/figure_reader.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/workload/routing.h"

namespace switchyard::platform {

using sched::MappingReader;

namespace {

class Reader {
public:
    Reader(const std::string& path, const SystemRegistry& registry)
        : registry_(registry), file_(load_yaml(path), path, "") {}

    Experiment read() {
        experiment_.file = file_.file();
        experiment_.command = file_.choice_or("command", commands());
        std::vector<std::string> known = {
            "name", "title", "set", "designs", "sweep", "figures", experiment_.networks_key()};
        if (!experiment_.synthetic())
            known.insert(known.end(), {"platform", "batches", "first_batch", "seed", "model_error"});
        file_.allow(known);
        experiment_.name = file_.text("name");
        experiment_.title = file_.text_or("title", experiment_.name);
        if (!experiment_.synthetic()) {
            experiment_.platform = resolved(file_.text("platform"));
            experiment_.batches = static_cast<std::size_t>(file_.integer_or("batches", 1, kMaxBatches, 0));
            experiment_.first_batch = static_cast<std::size_t>(file_.integer_or("first_batch", 0, kMaxBatches, 0));
            experiment_.model_error = file_.number_or("model_error", 0, 1, 0);
            if (file_.has("seed"))
                experiment_.seed = file_.integer("seed", 0, std::numeric_limits<std::uint64_t>::max());
        }
        if (file_.has("set")) experiment_.set = settings(file_, true);
        using Keys = std::vector<std::string>;
        each(experiment_.networks_key(),
             experiment_.synthetic() ? Keys{"name", "set"} : Keys{"file", "name", "trace", "phases"},
             [this](MappingReader& entry, bool whole) { add_network(entry, whole); });
        each("designs", experiment_.synthetic() ? Keys{"name", "set"} : Keys{"design", "name", "platform", "set"},
             [this](MappingReader& entry, bool whole) { add_design(entry, whole); });
        if (experiment_.synthetic()) check_options_are_set_once();
        if (!experiment_.synthetic() && experiment_.batches == 0) check_needs_no_batches();
        if (file_.has("sweep")) read_sweep(file_.mapping("sweep"));
        std::set<std::string> names;
        each("figures", figure_keys(experiment_), [&](MappingReader& entry, bool whole) {
            if (!whole) file_.fail("figures", "expected mappings, found " + shown(text_));
            experiment_.figures.push_back(read_figure(entry, experiment_));
            if (!names.insert(experiment_.figures.back().name).second)
                entry.fail("name", "expected a name for each figure, found this one twice");
        });
        file_.finish();
        return std::move(experiment_);
    }

private:
    /// "run", and the systems that make their load.
    std::vector<std::string> commands() const {
        std::vector<std::string> words{"run"};
        for (const auto& system : registry_.systems())
            if (system->makes_its_load()) words.push_back(system->name());
        return words;
    }

    /// Calls visit(reader, true) for each mapping of the list, and visit({file: TEXT}, false) for each text.
    template <class Visit>
    void each(const std::string& key, const std::vector<std::string>& known, Visit visit) {
        const std::vector<YAML::Node> list = file_.list(key);
        if (list.empty()) file_.fail(key, "expected a value, found nothing");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string prefix = fmt::format("{}[{}]", key, i);
            if (list[i].IsScalar()) text_ = file_.scalar(list[i], key);
            line_ = line_of(list[i]);
            MappingReader reader(list[i].IsScalar() ? YAML::Node(YAML::NodeType::Map) : list[i], file_.file(), prefix);
            reader.allow(known);
            visit(reader, !list[i].IsScalar());
            reader.finish();
        }
    }

    void check_needs_no_batches() const {
        for (const Experiment::Design& design : experiment_.designs)
            if (registry_.refusal(design.design, WorkKey::batches).empty())
                file_.fail("batches", "expected a value, found nothing");
    }

    /// Paths stand relative to the experiment's file.
    std::string resolved(const std::string& path) const {
        return (std::filesystem::path(file_.file()).parent_path() / path).lexically_normal().string();
    }

    /// The mapping `set`; parameters of a design have no dot in their keys. Synthetic traffic: options of the command.
    std::map<std::string, std::string> settings(MappingReader& reader, bool platform_only) const {
        std::map<std::string, std::string> result;
        MappingReader set = reader.mapping("set");
        for (const auto& [key, node] : set.nodes()) {
            // Quoted, no text is a value too: hbm.device: "" names no device.
            const bool nothing = node.IsScalar() && node.Scalar().empty() && node.Tag() == "!";
            result[key] = nothing ? "" : set.scalar(node, key);
            if (experiment_.synthetic())
                check_option(set, key, key, result[key]);
            else if (platform_only && key.find('.') == std::string::npos)
                set.fail(key, "expected a key of a platform, SECTION.KEY, found " + shown(key));
        }
        return result;
    }

    void check_option(const MappingReader& at, const std::string& key, const std::string& name,
                      const std::string& value) const {
        const std::string message =
            registry_.system(experiment_.command).parameter_error(experiment_.command, name, value);
        if (!message.empty()) at.fail(key, message);
    }

    void add_network(MappingReader& entry, bool whole) {
        Experiment::Network network;
        network.line = line_;
        if (experiment_.synthetic()) {
            network.name = whole ? entry.text("name") : text_;
            if (whole && entry.has("set")) network.set = settings(entry, false);
        } else {
            const std::string file = whole ? entry.text("file") : text_;
            network.file = resolved(file);
            network.name = whole ? entry.text_or("name", "") : "";
            if (whole && entry.has("trace")) network.trace = resolved(entry.text("trace"));
            if (whole && entry.has("phases")) read_phases(entry, network);
            if (network.name.empty()) network.name = std::filesystem::path(file).stem().string();
        }
        const char* const key = experiment_.networks_key();
        for (const Experiment::Network& other : experiment_.networks)
            if (other.name == network.name)
                fail(key, fmt::format("expected different names of {}, found \"{}\" twice", key, network.name));
        experiment_.networks.push_back(std::move(network));
    }

    /// By the experiment, its traffic or a design.
    void check_options_are_set_once() const {
        for (const Experiment::Design& design : experiment_.designs) {
            for (const auto& [name, value] : design.set) {
                if (experiment_.set.count(name) != 0)
                    fail_at(design.line, "designs",
                            "expected a key that is set once, found " + name + ", which the experiment sets as well");
                for (const Experiment::Network& traffic : experiment_.networks)
                    if (traffic.set.count(name) != 0)
                        fail_at(
                            design.line, "designs",
                            fmt::format("expected a key that is set once, found {}, which traffic \"{}\" sets as well",
                                        name, traffic.name));
            }
        }
        for (const Experiment::Network& traffic : experiment_.networks)
            for (const auto& [name, value] : traffic.set)
                if (experiment_.set.count(name) != 0)
                    fail_at(traffic.line, "traffic",
                            "expected a key that is set once, found " + name + ", which the experiment sets as well");
    }

    static void read_phases(MappingReader& entry, Experiment::Network& network) {
        if (!network.trace.empty()) entry.fail("phases", "expected no phases beside a trace, found some");
        for (const YAML::Node& node : entry.list("phases")) {
            MappingReader phase(node, entry.file(), "phases");
            std::vector<std::string> known = sched::routing_keys();
            known.emplace_back("from_batch");
            phase.allow(known);
            const auto from = static_cast<std::size_t>(phase.integer("from_batch", 0, kMaxBatches));
            if (!network.phases.empty() && from <= network.phases.back().from_batch)
                phase.fail("from_batch", fmt::format("expected more than the {} of the phase before it, found {}",
                                                     network.phases.back().from_batch, from));
            network.phases.push_back({from, std::move(phase)});
        }
    }

    void add_design(MappingReader& entry, bool whole) {
        Experiment::Design design;
        design.line = line_;
        if (experiment_.synthetic()) {
            design.name = whole ? entry.text("name") : text_;
        } else {
            design.design = whole ? entry.text("design") : text_;
            design.name = whole ? entry.text_or("name", design.design) : text_;
            if (whole && entry.has("platform")) design.platform = resolved(entry.text("platform"));
        }
        if (whole && entry.has("set")) design.set = settings(entry, false);
        for (const Experiment::Design& other : experiment_.designs)
            if (other.name == design.name)
                fail("designs", "expected different names of designs, found \"" + design.name + "\" twice");
        experiment_.designs.push_back(std::move(design));
    }

    void read_sweep(MappingReader reader) {
        Experiment::Sweep sweep;
        sweep.line = file_.line_of_key("sweep");
        reader.allow({"key", "values", "label", "designs"});
        sweep.key = reader.text("key");
        sweep.values = reader.texts("values");
        sweep.label = reader.text_or("label", sweep.key);
        std::set<std::string> known(sweep.values.begin(), sweep.values.end());
        if (known.size() != sweep.values.size()) reader.fail("values", "expected each value once, found one twice");
        if (experiment_.synthetic())
            for (const std::string& value : sweep.values) check_option(reader, "values", sweep.key, value);
        for (const Experiment::Network& traffic : experiment_.networks)
            if (traffic.set.count(sweep.key) != 0)
                fail_at(
                    traffic.line, "traffic",
                    "expected a key that is not swept, found " + sweep.key + ", which \"" + traffic.name + "\" sets");
        const std::vector<std::string> swept =
            reader.has("designs") ? reader.texts("designs") : std::vector<std::string>{};
        for (const std::string& name : swept) {
            const auto called = [&name](const Experiment::Design& design) { return design.name == name; };
            if (std::none_of(experiment_.designs.begin(), experiment_.designs.end(), called))
                reader.fail("designs", "expected a design of the experiment, found \"" + name + "\"");
        }
        for (Experiment::Design& design : experiment_.designs) {
            design.swept = swept.empty() || std::find(swept.begin(), swept.end(), design.name) != swept.end();
            if (design.swept && design.set.count(sweep.key) != 0)
                fail_at(design.line, "designs",
                        "expected a key that is not swept, found " + sweep.key + ", which design \"" + design.name +
                            "\" sets");
        }
        if (experiment_.set.count(sweep.key) != 0)
            file_.fail("set", "expected a key that is not swept, found " + sweep.key);
        reader.finish();
        experiment_.sweep = std::move(sweep);
    }

    [[noreturn]] void fail_at(int line, const std::string& key, const std::string& message) const {
        throw InputError(file_.file(), line, key, message);
    }
    [[noreturn]] void fail(const std::string& key, const std::string& message) const { fail_at(line_, key, message); }

    const SystemRegistry& registry_;
    MappingReader file_;
    Experiment experiment_;
    std::string text_;  ///< of the list's element that is a text
    int line_ = 0;      ///< of the list's element
};

}  // namespace

Experiment read_experiment(const std::string& path, const SystemRegistry& registry) {
    return Reader(path, registry).read();
}

const Experiment::Design& Experiment::design(const std::string& design_name) const {
    return *std::find_if(designs.begin(), designs.end(),
                         [&design_name](const Design& one) { return one.name == design_name; });
}

}  // namespace switchyard::platform
