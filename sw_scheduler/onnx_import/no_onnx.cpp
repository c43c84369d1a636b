// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

OnnxGraph read_onnx(const std::string& path) {
    return parse_onnx("", path);
}

OnnxGraph parse_onnx(const std::string&, const std::string& path) {
    throw InputError(path, 0, "",
                     "expected a program that was built with ONNX, found one without; add the package (Debian: "
                     "libonnx-dev) and build again");
}

}  // namespace switchyard::sched
