// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/figure_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/shown.h"

namespace switchyard::platform {

using sched::MappingReader;

namespace {

constexpr double kAnyNumber = std::numeric_limits<double>::max();

bool contains(const std::vector<std::string>& list, const std::string& element) {
    return std::find(list.begin(), list.end(), element) != list.end();
}

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
    std::vector<std::string> names;
    names.reserve(entries.size());
    for (const Entry& entry : entries) names.push_back(entry.name);
    return names;
}

double number(MappingReader& reader, const std::string& key) {
    if (!reader.has(key)) reader.fail(key, "expected a value, found nothing");
    return reader.number_or(key, -kAnyNumber, kAnyNumber, 0);
}

class FigureReader {
public:
    FigureReader(MappingReader& reader, const Experiment& experiment) : reader_(reader), experiment_(experiment) {}

    FigureSpec read() {
        figure_.line = reader_.line();
        figure_.name = file_name("name");
        figure_.title = reader_.text_or("title", figure_.name);
        const std::string kind = reader_.choice_or("kind", {"bars", "stacks", "lines", "scatter"});
        figure_.kind = kind == "bars"     ? FigureSpec::Kind::bars
                       : kind == "stacks" ? FigureSpec::Kind::stacks
                       : kind == "lines"  ? FigureSpec::Kind::lines
                                          : FigureSpec::Kind::scatter;
        figure_.measure = reader_.text("measure");
        read_scatter_options();
        if (reader_.has("over")) figure_.over = design("over", reader_.text("over"));
        figure_.inverse = reader_.choice_or("inverse", {"no", "yes"}) == "yes";
        if (figure_.inverse && figure_.over.empty()) reader_.fail("inverse", "expected over beside it, found none");
        figure_.scale = reader_.number_or("scale", -kAnyNumber, kAnyNumber, 1);
        figure_.label =
            reader_.text_or("label", figure_.measure + (figure_.over.empty() ? "" : ", relative to " + figure_.over));
        figure_.networks = selection(experiment_.networks_key(), names_of(experiment_.networks));
        figure_.designs = selection("designs", names_of(experiment_.designs));
        read_dimensions();
        read_line_options();
        const std::string source = reader_.text_or("source", "");
        if (reader_.has("published")) {
            for (const YAML::Node& node : reader_.list("published"))
                add_published({node, reader_.file(), "published"}, source);
        }
        return std::move(figure_);
    }

private:
    std::string file_name(const std::string& key) {
        std::string text = reader_.text(key);
        const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
        if (!std::all_of(text.begin(), text.end(), plain) || text.front() == '.')
            reader_.fail(key, "expected a file name of letters, digits, '_', '-' and '.', found " + shown(text));
        return text;
    }

    std::string design(const std::string& key, const std::string& name) const {
        if (!contains(names_of(experiment_.designs), name))
            reader_.fail(key, "expected a design of the experiment, found \"" + name + "\"");
        return name;
    }

    std::vector<std::string> selection(const std::string& key, const std::vector<std::string>& known) {
        if (!reader_.has(key)) return known;
        std::vector<std::string> chosen = reader_.texts(key);
        if (chosen.empty()) reader_.fail(key, "expected a value, found nothing");
        for (const std::string& name : chosen)
            if (!contains(known, name)) reader_.fail(key, "expected a name of the experiment, found \"" + name + "\"");
        return chosen;
    }

    Dimension dimension(const std::string& key, std::vector<Dimension> allowed) {
        std::vector<std::string> words;
        words.reserve(allowed.size());
        for (const Dimension one : allowed) words.emplace_back(experiment_.word(one));
        const std::string word = reader_.choice_or(key, words);
        const auto index = std::find(words.begin(), words.end(), word) - words.begin();
        const Dimension chosen = allowed[static_cast<std::size_t>(index)];
        if (chosen == Dimension::sweep && !experiment_.sweep)
            reader_.fail(key, "expected a sweep of the experiment, found none");
        return chosen;
    }

    void read_scatter_options() {
        const bool scatter = figure_.kind == FigureSpec::Kind::scatter;
        for (const char* key : {"against", "against_label", "diagonal"})
            if (!scatter && reader_.has(key)) reader_.fail(key, "expected for scatter only, found for another kind");
        if (!scatter) return;
        if (experiment_.synthetic()) reader_.fail("kind", "expected another kind for synthetic traffic, found scatter");
        for (const char* key : {"over", "across", "published"})
            if (reader_.has(key)) reader_.fail(key, "expected for other kinds than scatter, found for scatter");
        figure_.against = reader_.text("against");
        figure_.against_label = reader_.text_or("against_label", figure_.against);
        figure_.diagonal = reader_.choice_or("diagonal", {"no", "yes"}) == "yes";
    }

    void read_dimensions() {
        const bool lines = figure_.kind == FigureSpec::Kind::lines;
        std::vector<Dimension> across = {Dimension::network, Dimension::design, Dimension::sweep};
        if (lines) across = {Dimension::batch, Dimension::sweep};
        if (lines && experiment_.synthetic()) across = {Dimension::sweep};
        if (figure_.kind == FigureSpec::Kind::scatter) across = {Dimension::batch};
        figure_.across = dimension("across", across);
        figure_.series = dimension("series", {Dimension::design, Dimension::network, Dimension::sweep});
        if (figure_.inverse && figure_.kind == FigureSpec::Kind::stacks)
            reader_.fail("inverse", "expected for other kinds than stacks, found for stacks");
        if (figure_.across == figure_.series)
            reader_.fail("series", "expected another one than across, found the same");
        if (open(Dimension::network) && figure_.networks.size() > 1)
            reader_.fail(experiment_.networks_key(), "expected one, or their key in across or series, found several");
        if (open(Dimension::design) && figure_.designs.size() > 1)
            reader_.fail("designs", "expected one, or their key in across or series, found several");
        std::vector<std::string> used = figure_.designs;
        if (!figure_.over.empty()) used.push_back(figure_.over);
        for (const std::string& name : used)
            if (open(Dimension::sweep) && experiment_.design(name).swept)
                reader_.fail("designs",
                             "expected the sweep in across or series, found neither, and \"" + name + "\" is swept");
        if (lines && figure_.across == Dimension::sweep) check_sweep_is_numbers();
    }

    bool open(Dimension one) const { return figure_.across != one && figure_.series != one; }

    void check_sweep_is_numbers() const {
        double before = -kAnyNumber;
        for (const std::string& value : experiment_.sweep->values) {
            const std::optional<double> x = sweep_number(value);
            if (!x || *x <= before)
                reader_.fail("across", "expected a sweep of increasing numbers for lines, found " + value);
            before = *x;
        }
    }

    void read_line_options() {
        const bool lines = figure_.kind == FigureSpec::Kind::lines;
        for (const char* key : {"crossing", "marks", "every", "until"})
            if (!lines && reader_.has(key)) reader_.fail(key, "expected for lines only, found for another kind");
        if (reader_.has("crossing")) figure_.crossing = number(reader_, "crossing");
        if (figure_.crossing && figure_.across != Dimension::sweep)
            reader_.fail("crossing", "expected for lines across the sweep only, found for others");
        figure_.every =
            static_cast<unsigned>(reader_.integer_or("every", 1, std::max<std::size_t>(experiment_.batches, 1), 1));
        if (figure_.every > 1 && figure_.across != Dimension::batch)
            reader_.fail("every", "expected for lines across batches only, found for others");
        figure_.until = reader_.text_or("until", "");
        if (!figure_.until.empty() && figure_.across != Dimension::sweep)
            reader_.fail("until", "expected for lines across the sweep only, found for others");
        if (!figure_.until.empty() && figure_.networks.size() > 1)
            reader_.fail("until",
                         fmt::format("expected for one of {} only, found for several", experiment_.networks_key()));
        if (!reader_.has("marks")) return;
        for (const YAML::Node& node : reader_.list("marks")) {
            MappingReader mark(node, reader_.file(), "marks");
            mark.allow({"x", "text"});
            const double x = number(mark, "x");
            figure_.marks.push_back({x, mark.text("text")});
            mark.finish();
        }
    }

    /// One number or several of a kind, or a line of numbers across the sweep.
    void add_published(MappingReader reader, const std::string& source) {
        if (reader.has("most")) reader.fail("most", "expected the key max, found its earlier name");
        reader.allow({"design", "over", "mean", "max", "crossing", networks_key(), "sweep", "line", "source"});
        std::vector<std::pair<std::string, double>> line;
        if (reader.has("line")) {
            if (figure_.networks.size() > 1)
                reader.fail("line", "expected for one of " + std::string(networks_key()) + " only, found for several");
            MappingReader values = reader.mapping("line");
            for (const auto& [value, node] : values.nodes()) {
                check_is_swept(values, value);
                line.emplace_back(value, number(values, value));
            }
        }
        Published published = read_published(std::move(reader), source, !line.empty());
        if (line.empty()) figure_.published.push_back(published);
        for (const auto& [value, y] : line) {
            published.sweep = value;
            published.networks = {{figure_.networks.front(), y}};
            figure_.published.push_back(published);
        }
    }

    const char* networks_key() const { return experiment_.networks_key(); }

    void check_is_swept(const MappingReader& reader, const std::string& value) const {
        if (!experiment_.sweep) reader.fail("sweep", "expected a sweep of the experiment, found none");
        if (!contains(experiment_.sweep->values, value))
            reader.fail("sweep", "expected a value of the sweep, found " + value);
    }

    Published read_published(MappingReader reader, const std::string& source, bool is_line) const {
        Published result;
        const bool single = figure_.designs.size() == 1;
        result.design = single ? reader.text_or("design", figure_.designs.front()) : reader.text("design");
        result.over = reader.text_or("over", figure_.over);
        for (const auto& [key, name] : {std::pair("design", result.design), std::pair("over", result.over)})
            if (!name.empty() && !contains(names_of(experiment_.designs), name))
                reader.fail(key, "expected a design of the experiment, found \"" + name + "\"");
        for (const auto& [key, target] :
             {std::pair("mean", &result.mean), std::pair("max", &result.max), std::pair("crossing", &result.crossing)})
            if (reader.has(key)) *target = number(reader, key);
        if (result.crossing && !figure_.crossing)
            reader.fail("crossing", "expected crossing: yes in the figure, found none");
        if (reader.has(networks_key())) read_published_networks(reader.mapping(networks_key()), result);
        if (!result.mean && !result.max && !result.crossing && result.networks.empty() && !is_line)
            reader.fail("",
                        fmt::format("expected one of mean, max, {}, line and crossing, found none", networks_key()));
        const bool values = result.mean || result.max || !result.networks.empty();
        const bool swept =
            experiment_.design(result.design).swept || (!result.over.empty() && experiment_.design(result.over).swept);
        if (reader.has("sweep") || (values && swept)) {
            if (is_line) reader.fail("sweep", "expected without line, found beside it");
            if (!experiment_.sweep) reader.fail("sweep", "expected a sweep of the experiment, found none");
            result.sweep = reader.text("sweep");
            check_is_swept(reader, result.sweep);
        }
        result.source = source.empty() ? reader.text("source") : reader.text_or("source", source);
        reader.finish();
        return result;
    }

    void read_published_networks(MappingReader reader, Published& result) const {
        for (const auto& [name, node] : reader.nodes()) {
            if (!contains(figure_.networks, name))
                reader.fail(name, "expected a network of the figure, found " + shown(name));
            result.networks[name] = number(reader, name);
        }
    }

    MappingReader& reader_;
    const Experiment& experiment_;
    FigureSpec figure_;
};

}  // namespace

const char* Experiment::word(Dimension dimension) const {
    switch (dimension) {
        case Dimension::network:
            return synthetic() ? "traffic" : "network";
        case Dimension::design:
            return "design";
        case Dimension::sweep:
            return "sweep";
        case Dimension::batch:
            return "batch";
    }
    return "";
}

std::vector<std::string> figure_keys(const Experiment& experiment) {
    return {"name",     "title",         "kind",
            "measure",  "over",          "inverse",
            "scale",    "label",         experiment.networks_key(),
            "designs",  "across",        "series",
            "crossing", "marks",         "every",
            "until",    "source",        "published",
            "against",  "against_label", "diagonal"};
}

FigureSpec read_figure(MappingReader& reader, const Experiment& experiment) {
    return FigureReader(reader, experiment).read();
}

}  // namespace switchyard::platform
