// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/values_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "switchyard/platform/system/report_parts.h"
#include "switchyard/platform/systems/adyna/expectation.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

using nlohmann::ordered_json;

namespace {

/// `batch`: rows of the outputs.
ordered_json outputs_json(const NpyArray& outputs, std::size_t batch, const ReadExpectation& expected) {
    const OutputComparison found =
        compare_outputs(outputs, expected.outputs, expected.files.bound, expected.files.outputs);
    return {{"expected", expected.files.outputs},
            {"samples", found.samples},
            {"largest_error", found.largest_error},
            {"largest_error_at",
             {{"batch", found.worst_sample / batch},
              {"sample", found.worst_sample % batch},
              {"output", found.worst_output}}},
            {"mean_error", found.mean_error},
            {"bound", expected.files.bound},
            {"different_labels", found.different_labels},
            {"wrong_labels", found.wrong_labels}};
}

ordered_json routing_json(const Image& image, const std::vector<BatchRouting>& routed,
                          const ReadExpectation& expected) {
    const std::vector<BatchRouting>& recorded = expected.routing;
    ordered_json differences = ordered_json::array();
    std::size_t decisions = 0;
    for (std::size_t batch = 0; batch < routed.size(); ++batch) {
        for (std::size_t s = 0; s < image.meta.switches.size(); ++s) {
            for (std::size_t id = 0; id < routed[batch].samples; ++id) {
                const std::uint64_t here = routed[batch].masks[s][id], there = recorded[batch].masks[s][id];
                decisions += here != 0 || there != 0 ? 1 : 0;
                if (here != there)
                    differences.push_back({{"batch", batch},
                                           {"switch", image.meta.switches[s].name},
                                           {"sample", id},
                                           {"computed", here},
                                           {"recorded", there}});
            }
        }
    }
    return {{"recorded", expected.files.trace}, {"decisions", decisions}, {"differences", std::move(differences)}};
}

}  // namespace

ReadExpectation read_expectation(const Image& image, const NetworkValues& values, std::size_t batches,
                                 const ValuesExpectation& files) {
    ReadExpectation read{files, {}, {}};
    if (!files.outputs.empty()) {
        read.outputs = read_npy(files.outputs);
        check_expected_shape(values.output_shape(batches), read.outputs.shape, files.outputs);
    }
    if (!files.trace.empty()) {
        const std::uint32_t together = image.meta.batches_in_flight;
        read.routing = joined_batches(
            read_trace(files.trace, signatures_of(image.meta), image.meta.samples_of_batch(), batches * together),
            together, files.trace);
        if (read.routing.size() < batches)
            throw InputError(files.trace, 0, "batches",
                             fmt::format("expected {}, as the run has, found {}", batches * together,
                                         read.routing.size() * together));
    }
    return read;
}

ordered_json compared_values(const Image& image, const NpyArray& outputs, const std::vector<BatchRouting>& routed,
                             const ReadExpectation& expected) {
    ordered_json result = ordered_json::object();
    if (!expected.files.outputs.empty())
        result["outputs"] = outputs_json(outputs, outputs.shape.at(0) / routed.size(), expected);
    if (!expected.files.trace.empty()) result["routing"] = routing_json(image, routed, expected);
    return result;
}

std::string values_rows(const ordered_json& values) {
    std::string text;
    if (const auto found = values.find("outputs"); found != values.end()) {
        const ordered_json& outputs = *found;
        text += report_row(
            "outputs",
            fmt::format("largest error {:.4g}, mean {:.4g}, bound {:g}", outputs.at("largest_error").get<double>(),
                        outputs.at("mean_error").get<double>(), outputs.at("bound").get<double>()));
        text += report_row("labels", fmt::format("{} of {} differ from those expected, {} beyond the bound",
                                                 outputs.at("different_labels").get<std::size_t>(),
                                                 outputs.at("samples").get<std::size_t>(),
                                                 outputs.at("wrong_labels").get<std::size_t>()));
    }
    if (const auto found = values.find("routing"); found != values.end())
        text +=
            report_row("decisions", fmt::format("{} of {} differ from those recorded", found->at("differences").size(),
                                                found->at("decisions").get<std::size_t>()));
    return text;
}

std::string values_error(const ordered_json& values) {
    const auto found = values.find("outputs");
    if (found == values.end()) return "";
    const ordered_json& outputs = *found;
    const double error = outputs.at("largest_error").get<double>(), bound = outputs.at("bound").get<double>();
    if (error <= bound) return "";
    const ordered_json& at = outputs.at("largest_error_at");
    std::string text =
        fmt::format("{}: batch {}, sample {}, output {}: error {:.4g}, bound {:g}",
                    outputs.at("expected").get<std::string>(), at.at("batch").get<std::size_t>(),
                    at.at("sample").get<std::size_t>(), at.at("output").get<std::size_t>(), error, bound);
    const auto routing = values.find("routing");
    if (routing == values.end()) return text;
    for (const ordered_json& difference : routing->at("differences")) {
        if (difference.at("batch") == at.at("batch") && difference.at("sample") == at.at("sample"))
            return text + fmt::format("; it takes another way than recorded at switch {}",
                                      difference.at("switch").get<std::string>());
    }
    return text;
}

}  // namespace switchyard::platform
