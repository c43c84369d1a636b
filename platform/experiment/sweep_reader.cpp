// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/sweep.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/mapping_reader.h"

namespace switchyard::platform {

using sched::MappingReader;

namespace {

constexpr std::uint64_t kMaxPoints = 1000000;
constexpr double kHuge = 1e300;

class SweepReader {
public:
    explicit SweepReader(const std::string& path) : file_(load_yaml(path), path, "") {}

    Sweep read() {
        sweep_.file = file_.file();
        file_.allow({"name", "title", "platform", "set", "batches", "first_batch", "seed", "networks", "designs",
                     "axes", "sample", "constraints", "objectives"});
        sweep_.name = file_.text("name");
        const std::set<std::string> tables = {"point", "input", "sweep"};
        if (tables.count(sweep_.name) != 0 || sweep_.name.rfind("sqlite_", 0) == 0)
            file_.fail("name", "expected another name than a table of the store has, found such a name");
        sweep_.title = file_.text_or("title", sweep_.name);
        if (file_.has("platform")) sweep_.platform = resolved(file_.text("platform"));
        if (file_.has("set")) sweep_.set = settings(file_);
        sweep_.batches = static_cast<std::size_t>(file_.integer("batches", 1, kMaxBatches));
        sweep_.first_batch = static_cast<std::size_t>(file_.integer_or("first_batch", 0, kMaxBatches, 0));
        if (file_.has("seed")) sweep_.seed = file_.integer("seed", 0, std::numeric_limits<std::uint64_t>::max());
        each("networks", "file", [this](MappingReader& entry) { add_network(entry); });
        each("designs", "design", [this](MappingReader& entry) { add_design(entry); });
        each("axes", "", [this](MappingReader& entry) { add_axis(entry); });
        if (file_.has("sample")) read_sample(file_.mapping("sample"));
        check_grid();
        if (file_.has("constraints")) read_constraints();
        each("objectives", "", [this](MappingReader& entry) { add_objective(entry); });
        file_.finish();
        return std::move(sweep_);
    }

private:
    /// Visits each mapping of the list; a text alone stands for {key: TEXT} if `key` is not empty.
    template <class Visit>
    void each(const std::string& list_key, const std::string& key, Visit visit) {
        const std::vector<YAML::Node> list = file_.list(list_key);
        if (list.empty()) file_.fail(list_key, "expected a value, found nothing");
        for (std::size_t i = 0; i < list.size(); ++i) {
            YAML::Node node = list[i];
            if (node.IsScalar() && !key.empty()) {
                const std::string text = file_.scalar(node, list_key);
                node.reset(YAML::Node(YAML::NodeType::Map));
                node[key] = text;
            }
            MappingReader reader(node, file_.file(), fmt::format("{}[{}]", list_key, i));
            visit(reader);
            reader.finish();
        }
    }

    std::string resolved(const std::string& path) const {
        return (std::filesystem::path(file_.file()).parent_path() / path).lexically_normal().string();
    }

    static std::map<std::string, std::string> settings(MappingReader& reader) {
        std::map<std::string, std::string> result;
        MappingReader set = reader.mapping("set");
        for (const auto& [key, node] : set.nodes()) {
            // Quoted, no text is a value too: hbm.device: "" names no device.
            const bool nothing = node.IsScalar() && node.Scalar().empty() && node.Tag() == "!";
            result[key] = nothing ? "" : set.scalar(node, key);
        }
        return result;
    }

    template <class List>
    void refuse_second(const MappingReader& entry, const List& list, const std::string& name) const {
        for (const auto& other : list)
            if (other.name == name) entry.fail("name", "expected different names, found \"" + name + "\" twice");
    }

    void add_network(MappingReader& entry) {
        entry.allow({"file", "name", "trace"});
        const std::string file = entry.text("file");
        Sweep::Network network{entry.text_or("name", std::filesystem::path(file).stem().string()), resolved(file), ""};
        if (entry.has("trace")) network.trace = resolved(entry.text("trace"));
        refuse_second(entry, sweep_.networks, network.name);
        sweep_.networks.push_back(std::move(network));
    }

    void add_design(MappingReader& entry) {
        entry.allow({"design", "name", "platform", "set"});
        Sweep::Design design;
        design.design = entry.text("design");
        design.name = entry.text_or("name", design.design);
        design.platform = entry.has("platform") ? resolved(entry.text("platform")) : sweep_.platform;
        if (entry.has("set")) design.set = settings(entry);
        refuse_second(entry, sweep_.designs, design.name);
        sweep_.designs.push_back(std::move(design));
    }

    void add_axis(MappingReader& entry) {
        entry.allow({"key", "keys", "values", "from", "to", "steps", "scale", "integer", "designs"});
        Sweep::Axis axis;
        axis.keys = entry.has("keys") ? entry.texts("keys") : std::vector<std::string>{entry.text("key")};
        for (const std::string& key : axis.keys) {
            for (const Sweep::Axis& other : sweep_.axes)
                if (std::find(other.keys.begin(), other.keys.end(), key) != other.keys.end())
                    entry.fail("key", "expected a key of one axis, found " + key + " in two");
            if (sweep_.set.count(key) != 0)
                entry.fail("key", "expected a key that is not set for all points, found " + key);
        }
        if (entry.has("values"))
            read_values(entry, axis);
        else
            read_range(entry, axis);
        if (entry.has("designs")) axis.designs = entry.texts("designs");
        for (const std::string& name : axis.designs) {
            const auto called = [&name](const Sweep::Design& design) { return design.name == name; };
            if (std::none_of(sweep_.designs.begin(), sweep_.designs.end(), called))
                entry.fail("designs", "expected a design of the sweep, found \"" + name + "\"");
        }
        sweep_.axes.push_back(std::move(axis));
    }

    static void read_values(MappingReader& entry, Sweep::Axis& axis) {
        for (const YAML::Node& node : entry.list("values")) {
            std::vector<std::string> value;
            if (axis.keys.size() == 1) {
                value.push_back(entry.scalar(node, "values"));
            } else {
                if (!node.IsSequence() || node.size() != axis.keys.size())
                    entry.fail("values",
                               fmt::format("expected {} values in each, one a key, found {}", axis.keys.size(),
                                           node.IsSequence() ? std::to_string(node.size()) : "no list"));
                for (const YAML::Node& one : node) value.push_back(entry.scalar(one, "values"));
            }
            if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
                entry.fail("values", "expected each value once, found one twice");
            axis.values.push_back(std::move(value));
        }
        if (axis.values.empty()) entry.fail("values", "expected a value, found nothing");
    }

    static void read_range(MappingReader& entry, Sweep::Axis& axis) {
        if (axis.keys.size() != 1) entry.fail("values", "expected a value, found nothing");
        axis.range = true;
        entry.text("from");
        entry.text("to");
        axis.from = entry.number_or("from", -kHuge, kHuge, 0);
        axis.to = entry.number_or("to", -kHuge, kHuge, 0);
        if (axis.from >= axis.to)
            entry.fail("to", fmt::format("expected a number above from, {}, found {}", axis.from, axis.to));
        axis.logarithmic = entry.choice_or("scale", {"linear", "log"}) == "log";
        if (axis.logarithmic && axis.from <= 0)
            entry.fail("from", fmt::format("expected a positive number for scale log, found {}", axis.from));
        axis.integer = entry.choice_or("integer", {"no", "yes", "true", "false"}) == "yes" ||
                       entry.text_or("integer", "no") == "true";
        const auto steps = static_cast<std::size_t>(entry.integer_or("steps", 2, kMaxPoints, 0));
        for (std::size_t i = 0; i < steps; ++i) {
            const std::vector<std::string> value = axis.at(static_cast<double>(i) / static_cast<double>(steps - 1));
            if (axis.values.empty() || axis.values.back() != value) axis.values.push_back(value);
        }
    }

    void read_sample(MappingReader reader) {
        reader.allow({"method", "points", "seed"});
        const std::string method = reader.choice_or("method", {"grid", "random", "latin_hypercube"});
        if (method != "grid") {
            sweep_.sampling = method == "random" ? Sweep::Sampling::random : Sweep::Sampling::latin_hypercube;
            sweep_.samples = static_cast<std::size_t>(reader.integer("points", 1, kMaxPoints));
            sweep_.sampling_seed = reader.integer_or("seed", 0, std::numeric_limits<std::uint64_t>::max(), 1);
        }
        reader.finish();
    }

    void read_constraints() {
        for (const YAML::Node& node : file_.list("constraints")) {
            // Not scalar(): "<" begins a placeholder there.
            if (!node.IsScalar()) file_.fail("constraints", "expected texts, found a list or a mapping in the list");
            sweep_.constraints.emplace_back(node.Scalar(), line_of(node));
        }
    }

    void check_grid() const {
        if (sweep_.sampling != Sweep::Sampling::grid) return;
        double points = 1;
        for (const Sweep::Axis& axis : sweep_.axes) {
            if (axis.values.empty())
                file_.fail("axes", "expected values or steps for " + axis.keys.front() + " on a grid, found neither");
            points *= static_cast<double>(axis.values.size());
        }
        if (points > static_cast<double>(kMaxPoints))
            file_.fail("axes", fmt::format("expected at most {} points of the grid, found {:.3g}", kMaxPoints, points));
    }

    void add_objective(MappingReader& entry) {
        entry.allow({"name", "measure", "goal"});
        Sweep::Objective objective;
        objective.measure = entry.text("measure");
        objective.name = entry.text_or("name", objective.measure);
        const std::string goal = entry.choice_or("goal", {"min", "max", "none"});
        objective.sign = goal == "none" ? 0 : goal == "min" ? 1 : -1;
        refuse_second(entry, sweep_.objectives, objective.name);
        sweep_.objectives.push_back(std::move(objective));
    }

    MappingReader file_;
    Sweep sweep_;
};

}  // namespace

std::vector<std::string> Sweep::Axis::at(double u) const {
    if (!range) {
        const auto index = static_cast<std::size_t>(u * static_cast<double>(values.size()));
        return values[std::min(index, values.size() - 1)];
    }
    double value = logarithmic ? from * std::pow(to / from, u) : from + (to - from) * u;
    if (integer) value = std::round(value);
    value = std::clamp(value, from, to);
    return {integer ? fmt::format("{:.0f}", value) : fmt::format("{:.10g}", value)};
}

Sweep read_sweep(const std::string& path) {
    return SweepReader(path).read();
}

}  // namespace switchyard::platform
