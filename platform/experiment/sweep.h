// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "switchyard/platform/system/system_registry.h"

namespace switchyard::platform {

/// A sweep file: points of several networks, designs and values of keys (docs/sweeps.md).
struct Sweep {
    struct Network {
        std::string name, file, trace;  ///< paths as a program can open them
    };
    struct Design {
        std::string name, design, platform;      ///< platform: in place of the sweep's, or empty
        std::map<std::string, std::string> set;  ///< platform keys, parameters, batch_size
    };
    /// Values of one key, or of several together: a list, or a range.
    struct Axis {
        std::vector<std::string> keys;
        std::vector<std::vector<std::string>> values;  ///< [value][key]; of a range with steps: its values
        bool range = false;                            ///< samples take any value between `from` and `to`
        double from = 0, to = 0;
        bool logarithmic = false, integer = false;
        std::vector<std::string> designs;  ///< names; the others do without it

        /// Of a share of the axis, 0 <= u < 1.
        std::vector<std::string> at(double u) const;
    };
    enum class Sampling { grid, random, latin_hypercube };
    /// A number of the reports, which is a column, and may be to be small or large.
    struct Objective {
        std::string name, measure;
        int sign = 0;  ///< 1: min, -1: max, 0: only shown
    };

    std::string file, name, title, platform;
    std::map<std::string, std::string> set;
    std::size_t batches = 0, first_batch = 0;
    std::optional<std::uint64_t> seed;
    std::vector<Network> networks;
    std::vector<Design> designs;
    std::vector<Axis> axes;
    Sampling sampling = Sampling::grid;
    std::size_t samples = 0;
    std::uint64_t sampling_seed = 1;
    std::vector<std::pair<std::string, int>> constraints;  ///< with their lines
    std::vector<Objective> objectives;
};

/// Throws InputError "file:line: key: ..." for whatever is missing, unknown or contradictory.
Sweep read_sweep(const std::string& path);

/// A point with its place in the sweep.
struct SweepPoint {
    std::string network, design;                  ///< names
    std::map<std::string, std::string> settings;  ///< of the axes
    Point run;

    std::string name() const;  ///< "moe, adyna, noc.link_cycles 2"
};

/// All networks with all designs with all values that hold the constraints. Depends on the file alone. Throws
/// InputError, also if there is none.
std::vector<SweepPoint> points_of(const Sweep& sweep);

}  // namespace switchyard::platform
