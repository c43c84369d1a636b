// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "switchyard/rtl/common/model_context.h"

/// What a cosim test leaves in SWITCHYARD_COVERAGE_FOLDER for the test `coverage_merged`. `name` is unique among the
/// tests: a later call of the same name overwrites. Throws std::runtime_error if a file cannot be written.
namespace switchyard::testing {

/// Line and toggle coverage of `context`'s model, Verilated with COVERAGE, into NAME.dat.
inline void save_coverage(const rtl::ModelContext& context, const std::string& name) {
    context.save_coverage(std::string(SWITCHYARD_COVERAGE_FOLDER) + "/" + name + ".dat");
}

/// Functional coverage points of `block` (a folder of rtl/) with their hits into NAME.points.
inline void save_functional_coverage(const std::string& block, const std::string& name,
                                     const std::vector<std::pair<std::string, std::uint64_t>>& points) {
    const std::string path = std::string(SWITCHYARD_COVERAGE_FOLDER) + "/" + name + ".points";
    std::ofstream file(path);
    for (const auto& [point, hits] : points) file << block << '\t' << name << ": " << point << '\t' << hits << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write coverage to " + path);
}

}  // namespace switchyard::testing
