// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/onnx_import/onnx_import.h"

namespace switchyard::sched {

/// Builds an ONNX file for a test.
class OnnxModel {
public:
    using Dims = std::vector<std::int64_t>;

    explicit OnnxModel(int opset = 17);

    OnnxModel& input(const std::string& name, const Dims& dims, int type = onnx::TensorProto::FLOAT);
    OnnxModel& output(const std::string& name, const Dims& dims = {}, int type = onnx::TensorProto::FLOAT);
    /// Numbers 1, 2, ... scaled to below 1, unless `values` are given.
    OnnxModel& floats(const std::string& name, const Dims& dims, std::vector<float> values = {});
    OnnxModel& integers(const std::string& name, const Dims& dims, const std::vector<std::int64_t>& values);
    onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, const std::string& domain = "");

    onnx::ModelProto& proto() { return proto_; }
    onnx::GraphProto& graph() { return *proto_.mutable_graph(); }
    std::string bytes() const { return proto_.SerializeAsString(); }

    /// Throws InputError.
    ImportedModel import(bool values = false, const std::string& path = "network.onnx") const;
    /// The message of the refusal; empty: it is imported.
    std::string refusal(bool values = false) const;
    /// All that an import gives: text, values, numbers, or the refusal.
    std::string outcome() const;

private:
    onnx::ModelProto proto_;
};

onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& key);
void set(onnx::NodeProto& node, const std::string& key, std::int64_t value);
void set(onnx::NodeProto& node, const std::string& key, double value);
void set(onnx::NodeProto& node, const std::string& key, const char* value);
void set(onnx::NodeProto& node, const std::string& key, const std::vector<std::int64_t>& values);
void set(onnx::NodeProto& node, const std::string& key, const onnx::GraphProto& graph);

/// Values of `weights` with this name; fails the test if there are none.
const std::vector<float>& weights(const ImportedModel& model, const std::string& name);

}  // namespace switchyard::sched
