// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/platform/experiment/chart.h"
#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// What distinguishes the numbers of an experiment: which network (or synthetic traffic), which design, which value of
/// the sweep, which batch.
enum class Dimension { network, design, sweep, batch };

/// A published number, or several of one kind, to lay beside ours. Never an input of a model.
struct Published {
    std::string design;                      ///< name of a design of the experiment
    std::string over;                        ///< design that it is divided by; empty: the number itself
    std::string sweep;                       ///< value of the sweep; empty without one
    std::optional<double> mean, max;         ///< over the networks
    std::map<std::string, double> networks;  ///< of single networks
    std::optional<double> crossing;          ///< value of the sweep at which the figure's `crossing` is reached
    std::string source;
};

/// One figure: which numbers, along what, how drawn (docs/experiments.md).
struct FigureSpec {
    enum class Kind { bars, stacks, lines, scatter };

    std::string name, title, label;
    Kind kind = Kind::bars;
    std::string measure;  ///< key of the report, with dots: "summary.samples_per_second"
    std::string against;  ///< scatter: key of the numbers along the other axis, one for each of `measure`
    std::string against_label;
    bool diagonal = false;  ///< scatter: draws and counts by the line on which both are equal
    std::string over;       ///< design that values are divided by; empty: values as they are
    bool inverse = false;   ///< that design's value divided by the value: how much faster, of times
    double scale = 1;
    Dimension across = Dimension::network, series = Dimension::design;
    std::vector<std::string> networks, designs;  ///< names; all if the file says nothing
    unsigned every = 1;                          ///< across batches: mean of N batches
    std::string until;                           ///< lines end where the report says true under this key; empty: never
    std::optional<double> crossing;              ///< lines: where do they reach this value?
    std::vector<Chart::Mark> marks;
    std::vector<Published> published;
    int line = 0;
};

/// An experiment file: points are all its networks with all its designs, those that are swept for each value. With a
/// system that makes its load, kinds of traffic stand in the place of networks, and designs and sweep set options of
/// the command, which are the parameters of the only design of that system.
struct Experiment {
    struct Network {
        std::string name, file, trace;  ///< paths as a program can open them
        std::vector<RoutePhase> phases;
        std::map<std::string, std::string> set;  ///< synthetic traffic: options of the command
        int line = 0;
    };
    struct Design {
        std::string name, design;
        std::string platform;  ///< file in place of the experiment's; empty: that one
        /// With a dot: platform keys; without: parameters of the design. Synthetic traffic: options of the command.
        std::map<std::string, std::string> set;
        bool swept = false;
        int line = 0;
    };
    struct Sweep {
        std::string key;  ///< "batch_size", a platform key or a design's parameter
        std::vector<std::string> values;
        std::string label;
        int line = 0;
    };

    std::string file, name, title;
    std::string command = "run";  ///< or the name of a system that makes its load: "noc", "mem"
    std::string platform;
    std::map<std::string, std::string> set;
    std::size_t batches = 0;
    std::size_t first_batch = 0;  ///< number of the first one: those before it may be what schedules were made for
    std::optional<std::uint64_t> seed;
    /// Stated error of the models: of a ratio of two designs, a share by which it may differ from one and says nothing.
    double model_error = 0;
    std::vector<Network> networks;
    std::vector<Design> designs;
    std::optional<Sweep> sweep;
    std::vector<FigureSpec> figures;

    const Design& design(const std::string& design_name) const;  ///< must be there
    /// The ratio of two designs is within the models' stated error.
    bool equal_within_error(double ratio) const { return ratio != 1 && std::abs(ratio - 1) <= model_error; }
    bool synthetic() const { return command != "run"; }
    const char* word(Dimension dimension) const;  ///< that the file has for it
    const char* networks_key() const { return synthetic() ? "traffic" : "networks"; }
};

/// Throws InputError "file:line: key: ..." for whatever is missing, unknown, contradictory, or not named in the file.
/// Reads no other file. `registry`: whose designs there are.
Experiment read_experiment(const std::string& path, const SystemRegistry& registry);

/// A value of the sweep as a number, if it is one.
std::optional<double> sweep_number(const std::string& text);

/// `settings`: `batches` and `seed` replace what the file says, the rest are platform keys for all points. Throws
/// InputError, also for a key that the sweep or a design sets.
void override_settings(Experiment& experiment, const std::map<std::string, std::string>& settings,
                       const SystemRegistry& registry);

/// One point, with its place in the experiment.
struct ExperimentPoint {
    std::string network, design;  ///< names
    std::string sweep;            ///< value, empty if the design is not swept
    Point run;

    std::string name() const;  ///< "skipnet, adyna, batch_size 16"
    std::string sweep_key;
};

/// All points: networks in turn, for each the designs, for each the sweep's values. Reads networks and platforms once,
/// so that what is wrong with one is known before anything has run. Throws InputError: that, an unknown design or
/// parameter.
std::vector<ExperimentPoint> points_of(const Experiment& experiment, const SystemRegistry& registry);

}  // namespace switchyard::platform
