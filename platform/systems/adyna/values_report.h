// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/sw_scheduler/adyna/image/image.h"
#include "switchyard/sw_scheduler/workload/trace.h"

namespace switchyard::platform {

/// What a run with values is compared with; an empty path: with nothing.
struct ValuesExpectation {
    std::string outputs;  ///< .npy
    double bound = 0.05;  ///< largest absolute error of an output that counts as rounding
    std::string trace;    ///< recorded routes
};

/// The same, read and checked.
struct ReadExpectation {
    ValuesExpectation files;
    NpyArray outputs;
    std::vector<BatchRouting> routing;
};
/// Before a run of as many batches. Throws InputError for a file that has fewer samples or batches, another shape or
/// another type than the run, or that does not fit the image.
ReadExpectation read_expectation(const Image& image, const NetworkValues& values, std::size_t batches,
                                 const ValuesExpectation& files);

/// `outputs` and `routing` of the section `values` (docs/report_format.md), as far as there is an expectation.
nlohmann::ordered_json compared_values(const Image& image, const NpyArray& outputs,
                                       const std::vector<BatchRouting>& routed, const ReadExpectation& expected);

/// Lines of the table for people: outputs, labels, decisions. Empty without an expectation.
std::string values_rows(const nlohmann::ordered_json& values);

/// "", or which output is beyond the bound: one line.
std::string values_error(const nlohmann::ordered_json& values);

}  // namespace switchyard::platform
