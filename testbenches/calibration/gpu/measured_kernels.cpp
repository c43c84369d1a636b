// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/calibration/gpu/measured_kernels.h"

#include <fstream>
#include <map>
#include <sstream>

#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::calibration {

namespace {

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
}

using Cells = std::map<std::string, std::string>;

std::uint64_t whole(const Cells& cells, const char* key) {
    return std::stoull(cells.at(key));
}

sched::GpuOperator operator_of(const Cells& cells) {
    using Kind = sched::GpuOperator::Kind;
    const std::string& label = cells.at("op");
    if (!cells.at("m").empty()) return sched::linear_operator(whole(cells, "m"), whole(cells, "k"), whole(cells, "n"));
    sched::GpuOperator op;
    op.name = label;
    op.kind = Kind::convolution;
    op.batch = whole(cells, "batch");
    op.in_channels = whole(cells, "in_channels");
    op.in_height = whole(cells, "in_h");
    op.in_width = whole(cells, "in_w");
    op.out_channels = whole(cells, "out_channels");
    op.out_height = whole(cells, "out_h");
    op.out_width = whole(cells, "out_w");
    op.kernel = whole(cells, "kernel");
    op.stride = whole(cells, "stride");
    op.groups = whole(cells, "groups");
    op.added_input = label.find("Add") != std::string::npos;
    if (label.rfind("ConvTranspose", 0) == 0) {
        // The log has the input's size in both places.
        op.kind = Kind::transposed_convolution;
        op.out_height = op.in_height * op.stride;
        op.out_width = op.in_width * op.stride;
    } else if (label.find("Pool") != std::string::npos) {
        op.kind = Kind::pooling;
        op.groups = op.in_channels;
        if (label.rfind("Adaptive", 0) == 0) op.kernel = op.stride = op.in_height;
    }
    return op;
}

}  // namespace

std::vector<MeasuredKernel> read_measured_kernels(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw InputError(path, 0, "", "cannot be opened");
    std::vector<MeasuredKernel> kernels;
    std::vector<std::string> names;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.empty() || line[0] == '#') continue;
        const std::vector<std::string> values = split(line);
        if (names.empty()) {
            names = values;
            continue;
        }
        if (values.size() != names.size()) throw InputError(path, number, "", "another number of columns");
        Cells cells;
        for (std::size_t i = 0; i < names.size(); ++i) cells[names[i]] = values[i];
        try {
            kernels.push_back(
                {cells.at("device"), cells.at("op"), operator_of(cells), std::stod(cells.at("us")), line});
        } catch (const std::logic_error&) {
            throw InputError(path, number, "", "a column is missing or no number");
        }
    }
    return kernels;
}

std::string type_of(const sched::GpuOperator& op) {
    using Kind = sched::GpuOperator::Kind;
    switch (op.kind) {
        case Kind::linear:
            return "linear";
        case Kind::pooling:
            return "pooling";
        case Kind::transposed_convolution:
            return "transposed convolution";
        case Kind::convolution:
            break;
    }
    if (op.groups > 1) return "depthwise convolution";
    return op.kernel == 1 ? "convolution 1x1" : "convolution";
}

}  // namespace switchyard::calibration
