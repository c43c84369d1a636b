// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "switchyard/sw_scheduler/onnx_import/onnx_graph.h"

namespace switchyard::sched {

/// An operator cannot be imported; `what()` says why, without the node.
class NotImportable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The same of an operator that ends a pattern of several: their own reasons do not matter.
class NoPattern : public NotImportable {
public:
    using NotImportable::NotImportable;
};

/// Reads a node for one conversion, and notes what of it was read. finish() refuses the node if the file gives an
/// attribute or an input that nothing has read: what the importer does not know is never ignored.
class NodeReader {
public:
    /// Throws NotImportable for a node that does not match its operator's definition.
    explicit NodeReader(const OnnxNode& node) : node_(node) {
        if (!node.fault.empty()) throw NotImportable(node.fault);
    }

    operator const OnnxNode&() const { return node_; }
    const OnnxNode* operator->() const { return &node_; }
    const std::string& op() const { return node_.op; }

    /// Attributes. Those with a default in ONNX's definition are always there.
    std::int64_t integer(const std::string& key);
    double number(const std::string& key);
    std::string text(const std::string& key);
    std::optional<std::vector<std::int64_t>> integers(const std::string& key);
    const OnnxAttribute* find(const std::string& key);

    /// Name of an input; empty if it is left out.
    std::string input(std::size_t index);

    /// The attributes and inputs have no influence on what is made of the node; the caller says why.
    void ignore(const std::string& key) { attributes_.insert(key); }
    void ignore_attributes();
    void ignore_input(std::size_t index) { inputs_.insert(index); }

    /// Throws NotImportable.
    void finish() const;

private:
    const OnnxNode& node_;
    std::set<std::string> attributes_;
    std::set<std::size_t> inputs_;
};

}  // namespace switchyard::sched
