// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/experiment/figure.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "switchyard/platform/experiment/measure.h"
#include "switchyard/platform/experiment/statistics.h"
#include "switchyard/platform/experiment/validated_domain.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

constexpr const char* kArithmeticMean = "arithmetic mean";
constexpr const char* kGeometricMean = "geometric mean";

/// The figure, or a published number beside it, needs this point.
bool uses(const FigureSpec& figure, const ExperimentPoint& point) {
    const auto contains = [](const std::vector<std::string>& list, const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    return contains(figure.networks, point.network) &&
           (contains(figure.designs, point.design) || figure.over == point.design ||
            std::any_of(figure.published.begin(), figure.published.end(), [&point](const Published& published) {
                return published.design == point.design || published.over == point.design;
            }));
}

/// Where one number of a figure comes from.
struct Place {
    std::string network, design, sweep;
};

class FigureMaker {
public:
    FigureMaker(const FigureSpec& spec, const Experiment& experiment, const std::vector<PointResult>& results)
        : spec_(spec), experiment_(experiment), results_(results) {}

    Figure make() {
        figure_.spec = &spec_;
        Chart& chart = figure_.chart;
        chart.title = spec_.title;
        chart.value_label = spec_.label;
        chart.marks = spec_.marks;
        chart.diagonal = spec_.diagonal;
        if (scatters()) {
            chart.group_label = spec_.against_label;
            fill_points();
            return std::move(figure_);
        }
        chart.group_label = spec_.kind != FigureSpec::Kind::lines ? ""
                            : spec_.across == Dimension::sweep    ? experiment_.sweep->label
                                                                  : "batch";
        fill();
        add_means();
        if (spec_.crossing) {
            for (const Chart::Series& series : chart.series) figure_.crossings.push_back(crossing_of(series));
        }
        for (const Published& published : spec_.published) compare(published);
        return std::move(figure_);
    }

private:
    std::vector<std::string> values_along(Dimension dimension) const {
        switch (dimension) {
            case Dimension::network:
                return spec_.networks;
            case Dimension::design:
                return spec_.designs;
            case Dimension::sweep:
                return experiment_.sweep->values;
            case Dimension::batch:
                break;
        }
        return {};
    }

    static void set(Place& place, Dimension dimension, const std::string& value) {
        (dimension == Dimension::network  ? place.network
         : dimension == Dimension::design ? place.design
                                          : place.sweep) = value;
    }

    /// A design that is not swept has one point for all values of the sweep.
    const ordered_json& report_at(const Place& place) const {
        const std::string sweep = experiment_.design(place.design).swept ? place.sweep : "";
        const auto is_here = [&](const PointResult& one) {
            return one.point.network == place.network && one.point.design == place.design && one.point.sweep == sweep;
        };
        const auto found = std::find_if(results_.begin(), results_.end(), is_here);
        if (found == results_.end())
            throw std::logic_error(fmt::format("no point of {} {} {}", place.network, place.design, sweep));
        return found->report;
    }

    /// Of the design that is compared with.
    std::vector<double> others(Place place) const {
        place.design = spec_.over;
        std::vector<double> values = numbers(place);
        if (stacks()) values = {total(values)};
        return values;
    }

    /// One, one a part, or one a batch; of a list that is not drawn along batches, the mean.
    std::vector<double> numbers(const Place& place) const {
        if (!stacks()) {
            const std::vector<double> all = numbers_at(report_at(place), spec_.measure);
            return spec_.across == Dimension::batch ? all : std::vector<double>{arithmetic_mean(all)};
        }
        std::vector<double> values(figure_.chart.parts.size(), 0);
        for (const auto& [name, value] : parts_at(report_at(place), spec_.measure))
            values[static_cast<std::size_t>(part_called(name) - figure_.chart.parts.begin())] = value;
        return values;
    }

    /// Several numbers as one: of a stack the sum, of batches the mean.
    double total(const std::vector<double>& values) const {
        return stacks() ? std::accumulate(values.begin(), values.end(), 0.0) : arithmetic_mean(values);
    }

    bool scatters() const { return spec_.kind == FigureSpec::Kind::scatter; }
    bool stacks() const { return spec_.kind == FigureSpec::Kind::stacks; }

    std::vector<std::string>::const_iterator part_called(const std::string& name) const {
        return std::find(figure_.chart.parts.begin(), figure_.chart.parts.end(), name);
    }

    /// All that a point has, in order of appearance; what another lacks is 0 there.
    void find_parts() {
        for (const PointResult& result : results_) {
            if (!uses(spec_, result.point)) continue;
            for (const auto& [name, value] : parts_at(result.report, spec_.measure))
                if (part_called(name) == figure_.chart.parts.end()) figure_.chart.parts.push_back(name);
        }
    }

    bool is_gap(const Place& place) const { return report_at(place).is_null(); }
    /// Of a place, and of what `over` divides it by.
    bool validated_at(Place place, const std::string& over) const {
        if (!outside_validated_domain(report_at(place)).empty()) return false;
        if (over.empty()) return true;
        place.design = over;
        return outside_validated_domain(report_at(place)).empty();
    }

    double ratio(double own, double other) const {
        const double divisor = spec_.inverse ? own : other;
        if (divisor == 0)
            throw InputError(experiment_.file, spec_.line, "figures." + spec_.name,
                             "expected a divisor other than zero, found zero");
        return (spec_.inverse ? other : own) / divisor;
    }

    /// What the figure has at a place; nothing if that or what it is divided by is a gap.
    std::vector<double> values_at(const Place& place) const {
        if (is_gap(place) || (!spec_.over.empty() && is_gap({place.network, spec_.over, place.sweep}))) return {};
        std::vector<double> values = numbers(place);
        if (!spec_.over.empty()) {
            const std::vector<double> over = others(place);
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = ratio(values[i], over[over.size() == 1 ? 0 : i]);
        }
        for (double& value : values) value *= spec_.scale;
        return values;
    }

    void fill() {
        Chart& chart = figure_.chart;
        if (stacks()) find_parts();
        const bool batches = spec_.across == Dimension::batch;
        chart.groups = values_along(spec_.across);
        if (spec_.across == Dimension::sweep && spec_.kind == FigureSpec::Kind::lines)
            for (const std::string& value : chart.groups) chart.x.push_back(*sweep_number(value));
        for (const std::string& name : values_along(spec_.series)) {
            Place place = fixed();
            set(place, spec_.series, name);
            Chart::Series series{name, {}, {}};
            std::vector<bool> validated;
            if (batches) {
                fill_batches(series, values_at(place));
                validated.assign(series.values.size(), validated_at(place, spec_.over));
            } else {
                bool ended = false;
                for (const std::string& group : chart.groups) {
                    set(place, spec_.across, group);
                    ended = ended || ends_at(place);
                    series.values.push_back(ended ? std::vector<double>{} : values_at(place));
                    validated.push_back(validated_at(place, spec_.over));
                }
            }
            chart.series.push_back(std::move(series));
            figure_.validated.push_back(std::move(validated));
        }
        for (Chart::Series& series : chart.series) {
            series.values.resize(chart.groups.size());
            series.published.resize(chart.groups.size());
        }
        for (std::vector<bool>& validated : figure_.validated) validated.resize(chart.groups.size(), true);
    }

    void fill_points() {
        for (const std::string& name : values_along(spec_.series)) {
            Place place = fixed();
            set(place, spec_.series, name);
            Chart::Series series{name, {}, {}};
            if (!is_gap(place)) {
                const std::vector<double> x = numbers_at(report_at(place), spec_.against), y = numbers(place);
                for (std::size_t i = 0; i < y.size(); ++i)
                    series.points.emplace_back(x[i] * spec_.scale, y[i] * spec_.scale);
            }
            figure_.chart.series.push_back(std::move(series));
        }
    }

    bool ends_at(const Place& place) const { return !spec_.until.empty() && is_true_at(report_at(place), spec_.until); }

    /// Means of `every` batches each, of the rest at the end.
    void fill_batches(Chart::Series& series, const std::vector<double>& values) {
        Chart& chart = figure_.chart;
        if (values.empty()) return;
        chart.groups.clear();
        chart.x.clear();
        for (std::size_t first = 0; first < values.size(); first += spec_.every) {
            const std::size_t count = std::min<std::size_t>(spec_.every, values.size() - first);
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
            series.values.push_back({arithmetic_mean({begin, begin + static_cast<std::ptrdiff_t>(count)})});
            chart.groups.push_back(count == 1 ? fmt::format("{}", first)
                                              : fmt::format("{}-{}", first, first + count - 1));
            chart.x.push_back(static_cast<double>(first) + static_cast<double>(count - 1) / 2);
        }
    }

    /// The dimensions that the figure leaves out have one value.
    Place fixed() const { return {spec_.networks.front(), spec_.designs.front(), ""}; }

    /// Of networks, not of kinds of traffic: as further groups, or further series. The geometric mean only of positive
    /// ratios that are no parts of a sum.
    void add_means() {
        if (spec_.networks.size() < 2 || experiment_.synthetic()) return;
        add_mean(kArithmeticMean, arithmetic_mean);
        const auto positive = [](const std::vector<double>& value) { return value.empty() || value.front() > 0; };
        const bool ratios = !spec_.over.empty() && !stacks();
        const std::vector<Chart::Series>& series = figure_.chart.series;
        if (ratios && std::all_of(series.begin(), series.end(), [&positive](const Chart::Series& one) {
                return std::all_of(one.values.begin(), one.values.end(), positive);
            }))
            add_mean(kGeometricMean, [](const std::vector<double>& values) { return *geometric_mean(values); });
    }

    template <class Mean>
    void add_mean(const char* name, Mean mean) {
        Chart& chart = figure_.chart;
        const std::size_t networks = spec_.networks.size();
        if (spec_.across == Dimension::network) {
            chart.groups.emplace_back(name);
            for (Chart::Series& series : chart.series) {
                const auto begin = series.values.begin();
                series.values.push_back(by_part({begin, begin + static_cast<std::ptrdiff_t>(networks)}, mean));
                series.published.resize(chart.groups.size());
            }
            for (std::vector<bool>& validated : figure_.validated)
                validated.push_back(std::find(validated.begin(),
                                              validated.begin() + static_cast<std::ptrdiff_t>(networks),
                                              false) == validated.begin() + static_cast<std::ptrdiff_t>(networks));
        } else if (spec_.series == Dimension::network) {
            Chart::Series added{name, {}, std::vector<std::optional<double>>(chart.groups.size())};
            std::vector<bool> validated;
            for (std::size_t group = 0; group < chart.groups.size(); ++group) {
                std::vector<std::vector<double>> values;
                bool all = true;
                for (std::size_t i = 0; i < networks; ++i) {
                    values.push_back(chart.series[i].values[group]);
                    all = all && figure_.is_validated(i, group);
                }
                added.values.push_back(by_part(values, mean));
                validated.push_back(all);
            }
            chart.series.push_back(std::move(added));
            figure_.validated.push_back(std::move(validated));
        }
    }

    /// With a gap among the networks there is no mean: over fewer of them it would be compared with the others' in
    /// vain.
    template <class Mean>
    static std::vector<double> by_part(const std::vector<std::vector<double>>& values, Mean mean) {
        std::vector<double> result;
        const auto gap = [](const std::vector<double>& value) { return value.empty(); };
        if (std::any_of(values.begin(), values.end(), gap)) return {};
        for (std::size_t part = 0; part < values.front().size(); ++part) {
            std::vector<double> column;
            column.reserve(values.size());
            for (const std::vector<double>& value : values) column.push_back(value[part]);
            result.push_back(mean(column));
        }
        return result;
    }

    std::optional<double> crossing_of(const Chart::Series& series) const {
        std::vector<double> x, y;
        for (std::size_t i = 0; i < series.values.size(); ++i) {
            if (series.values[i].empty()) continue;
            x.push_back(figure_.chart.x[i]);
            y.push_back(series.values[i].front());
        }
        return crossing(x, y, *spec_.crossing);
    }

    std::optional<double> ours(const Published& published, const std::string& network) const {
        const Place place{network, published.design, published.sweep};
        if (is_gap(place) || (!published.over.empty() && is_gap({network, published.over, published.sweep})))
            return std::nullopt;
        const double own = total(numbers(place));
        if (published.over.empty()) return own * spec_.scale;
        return ratio(own, total(numbers({network, published.over, published.sweep}))) * spec_.scale;
    }

    void compare(const Published& published) {
        const std::string what =
            published.design + (published.over.empty() ? "" : " over " + published.over) +
            (published.sweep.empty() ? "" : fmt::format(", {} {}", experiment_.sweep->key, published.sweep));
        const auto validated = [&](const std::string& network) {
            return validated_at({network, published.design, published.sweep}, published.over);
        };
        const auto all_validated = [&] { return std::all_of(spec_.networks.begin(), spec_.networks.end(), validated); };
        const auto add = [&](const std::string& statistic, double value, std::optional<double> our_value,
                             std::optional<double> geometric, bool is_validated) {
            figure_.comparisons.push_back({what, statistic, value, !published.over.empty(), our_value, geometric,
                                           published.source, is_validated});
        };
        std::vector<double> all;
        all.reserve(spec_.networks.size());
        bool gap = false;
        // A crossing belongs to no value of the sweep: there are no numbers of its own.
        if (published.mean || published.max)
            for (const std::string& network : spec_.networks) {
                const std::optional<double> one = ours(published, network);
                gap = gap || !one;
                all.push_back(one.value_or(0));
            }
        if (published.mean) {
            const bool ratio = !published.over.empty() && !gap;
            add("mean", *published.mean, gap ? std::nullopt : std::optional(arithmetic_mean(all)),
                ratio ? geometric_mean(all) : std::nullopt, all_validated());
            show(published, kArithmeticMean, *published.mean);
        }
        if (published.max)
            add("max", *published.max, gap ? std::nullopt : std::optional(*std::max_element(all.begin(), all.end())),
                std::nullopt, all_validated());
        for (const auto& [network, value] : published.networks) {
            const bool ended = ends_at({network, published.design, published.sweep});
            add(network, value, ended ? std::nullopt : ours(published, network), std::nullopt, validated(network));
            show(published, network, value);
        }
        if (published.crossing) {
            add("crossing", *published.crossing, crossing_called(kArithmeticMean, published.design),
                crossing_called(kGeometricMean, ""),
                std::all_of(figure_.validated.begin(), figure_.validated.end(), [](const std::vector<bool>& series) {
                    return std::find(series.begin(), series.end(), false) == series.end();
                }));
            figure_.chart.published_points.push_back(
                {*published.crossing, *spec_.crossing, short_number(*published.crossing)});
        }
    }

    /// Of the mean over the networks if there is one, or else of the design's line.
    std::optional<double> crossing_called(const std::string& name, const std::string& otherwise) const {
        for (const std::string& wanted : {name, otherwise}) {
            for (std::size_t i = 0; i < figure_.crossings.size(); ++i)
                if (figure_.chart.series[i].name == wanted) return figure_.crossings[i];
        }
        return std::nullopt;
    }

    /// Into the chart, if it has this number.
    void show(const Published& published, const std::string& network, double value) {
        if (published.over != spec_.over) return;
        const auto called = [&](Dimension dimension) {
            return dimension == Dimension::network  ? network
                   : dimension == Dimension::design ? published.design
                                                    : published.sweep;
        };
        const auto group = std::find(figure_.chart.groups.begin(), figure_.chart.groups.end(), called(spec_.across));
        if (group == figure_.chart.groups.end()) return;
        for (Chart::Series& series : figure_.chart.series)
            if (series.name == called(spec_.series))
                series.published[static_cast<std::size_t>(group - figure_.chart.groups.begin())] = value;
    }

    const FigureSpec& spec_;
    const Experiment& experiment_;
    const std::vector<PointResult>& results_;
    Figure figure_;
};

}  // namespace

void check_measures(const Experiment& experiment, const PointResult& result) {
    for (const FigureSpec& figure : experiment.figures) {
        if (!uses(figure, result.point)) continue;
        const bool stacks = figure.kind == FigureSpec::Kind::stacks, list = figure.across == Dimension::batch;
        const auto check = [&](const char* key, const std::string& measure) {
            const std::size_t found =
                stacks ? parts_at(result.report, measure).size() : numbers_at(result.report, measure).size();
            if (list ? found != result.point.run.work.batches : found == 0)
                throw InputError(
                    experiment.file, figure.line, "figures." + figure.name + "." + key,
                    fmt::format("{}: expected one number under {} of the report, found {}", result.point.name(),
                                measure, found == 0 ? "none" : fmt::format("{}", found)));
        };
        check("measure", figure.measure);
        if (!figure.against.empty()) check("against", figure.against);
    }
}

Figure make_figure(const FigureSpec& spec, const Experiment& experiment, const std::vector<PointResult>& results) {
    return FigureMaker(spec, experiment, results).make();
}

}  // namespace switchyard::platform
