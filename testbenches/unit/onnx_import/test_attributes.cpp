// SPDX-License-Identifier: Apache-2.0
// Every attribute, optional input and further result that ONNX defines for an operator which the importer knows, in
// every version of the operator in opsets 9 to 17: it changes what is imported, or the network is refused.
#include <onnx/defs/schema.h>

#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/onnx_import/importer.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/onnx_import/onnx_cases.h"

using namespace switchyard::sched;

namespace {

using Dims = OnnxModel::Dims;
using Attribute = onnx::AttributeProto;

constexpr int kOldest = 9, kNewest = 17;

/// Values that the attribute does not have in the network, of its type.
std::vector<std::function<void(onnx::NodeProto&)>> others(const std::string& key, Attribute::AttributeType type) {
    std::vector<std::function<void(onnx::NodeProto&)>> all;
    const auto add = [&](auto value) { all.emplace_back([=](onnx::NodeProto& node) { set(node, key, value); }); };
    switch (type) {
        case Attribute::INT:
            for (const std::int64_t value : {0, 1, 2, 3, 4, 7, -1, -9}) add(value);
            add(std::int64_t{1} << 40);
            break;
        case Attribute::FLOAT:
            for (const double value : {0.0, 0.5, 2.0, -1.0, 1e-3}) add(value);
            break;
        case Attribute::STRING:
            for (const char* const value : {"VALID", "SAME_UPPER", "any", "sum", "nonsense"}) add(value);
            break;
        case Attribute::INTS:
            for (const Dims& value : {Dims{}, Dims{0}, Dims{2, 2}, Dims{1, 0}, Dims{2, 1, 0}, Dims{0, 0, 0, 0, 0, 0},
                                      Dims{2, 2, 2, 2}, Dims{-1}, Dims{0, 0}})
                add(value);
            break;
        default:
            all.emplace_back([=](onnx::NodeProto& node) { attribute(node, key).set_type(type); });
    }
    return all;
}

/// Has no influence on the results of inference, by ONNX's definition.
const std::map<std::string, std::string> kNoInfluence = {
    {"BatchNormalization.momentum", "of running statistics, in training"},
    {"Dropout.ratio", "of training"},
    {"Dropout.seed", "of training"},
    {"MaxPool.storage_order", "of the second result"},
};

struct Count {
    int cases = 0, used = 0, without_values = 0, without_influence = 0;
};

void walk(const std::string& label, const std::function<OnnxCase()>& make, const onnx::OpSchema& schema, Count& count) {
    const std::string before = make().model.outcome();
    const bool imported = make().model.refusal().empty();
    INFO(label << ": " << before);
    REQUIRE(imported);
    for (const auto& [key, definition] : schema.attributes()) {
        INFO("attribute " << key);
        bool differs = false, same = false;
        for (const auto& change : others(key, definition.type)) {
            OnnxCase changed = make();
            change(changed.node());
            (changed.model.outcome() == before ? same : differs) = true;
        }
        ++count.cases;
        const bool sizes_only = !make().model.import().sizes_only.empty();
        if (kNoInfluence.count(schema.Name() + "." + key) > 0) {
            ++count.without_influence;
            CHECK(!differs);
        } else if (differs) {
            ++count.used;
        } else {
            // The model format has no values of the operator: a run that needs them is refused, with its name.
            ++count.without_values;
            CHECK(sizes_only);
            CHECK_THAT(make().model.refusal(true),
                       Catch::Contains("values the model format has, found " + schema.Name()));
        }
    }
    OnnxCase unknown = make();
    set(unknown.node(), "made_up", std::int64_t{1});
    CHECK_THAT(unknown.model.refusal(), Catch::Contains("defines, found made_up"));
    for (const auto& [key, definition] : schema.attributes()) {
        OnnxCase wrong = make();
        if (definition.type == Attribute::INT)
            set(wrong.node(), key, "text");
        else
            set(wrong.node(), key, std::int64_t{1});
        INFO("attribute " << key);
        CHECK_THAT(wrong.model.refusal(), Catch::Contains("its attribute " + key + ": expected type"));
    }
}

/// The newest opset, of those that are known, in which the operator has the definition of `version`.
int opset_of(const std::string& op, int version) {
    for (int opset = kNewest; opset >= kOldest; --opset) {
        const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op, opset, "");
        if (schema != nullptr && schema->SinceVersion() == version) return opset;
    }
    return 0;
}

/// All definitions of an operator in the opsets that are known.
std::set<int> versions_of(const std::string& op) {
    std::set<int> versions;
    for (int opset = kOldest; opset <= kNewest; ++opset)
        if (const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(op, opset, ""))
            versions.insert(schema->SinceVersion());
    return versions;
}

}  // namespace

TEST_CASE("Every attribute of every operator is used or refused") {
    Count count;
    int operators = 0;
    for (const auto& [op, versions] : imported_operators()) {
        if (op.rfind("switchyard.", 0) == 0) continue;
        CHECK(versions == versions_of(op));
        for (const int version : versions) {
            const int opset = opset_of(op, version);
            const std::string name = op;
            walk(
                fmt::format("{} of opset {}", op, version), [&] { return base_case(name, opset); },
                *onnx::OpSchemaRegistry::Schema(op, opset, ""), count);
            ++operators;
        }
    }
    const int handlers = operators;
    for (const std::string op :
         {"Constant", "Identity", "Transpose", "Reshape", "Unsqueeze", "Squeeze", "Gather", "Slice"})
        for (const int version : versions_of(op)) {
            const int opset = opset_of(op, version);
            walk(
                fmt::format("{} of opset {} on constants", op, version), [&] { return computed_case(op, opset); },
                *onnx::OpSchemaRegistry::Schema(op, opset, ""), count);
            ++operators;
        }
    WARN(fmt::format(
        "{} versions of operators and {} on constants, {} attributes: {} used or refused, {} of operators "
        "without values, {} without influence on inference",
        handlers, operators - handlers, count.cases, count.used, count.without_values, count.without_influence));
    CHECK(handlers > 80);
    CHECK(count.used > 130);
}

TEST_CASE("Every attribute of the domain switchyard is used or refused") {
    const std::map<std::string, std::map<std::string, Attribute::AttributeType>> all = {
        {"Switch", {{"choose", Attribute::STRING}, {"threshold", Attribute::FLOAT}, {"patience", Attribute::INT}}},
        {"Merge", {{"mode", Attribute::STRING}}}};
    for (const auto& [op, attributes] : all)
        for (const auto& [key, type] : attributes)
            for (const auto& change : others(key, type)) {
                OnnxCase changed = gated_case(kNewest, op);
                const std::string before = changed.model.outcome();
                change(changed.node());
                INFO(op << " " << key);
                CHECK(changed.model.outcome() != before);
            }
    for (const char* const op : {"Switch", "Merge"}) {
        OnnxCase unknown = gated_case(kNewest, op);
        set(unknown.node(), "made_up", std::int64_t{1});
        CHECK_THAT(unknown.model.refusal(), Catch::Contains("defines, found made_up"));
    }
}

TEST_CASE("Every further input and result of an operator is used or refused") {
    int inputs = 0, outputs = 0;
    for (const auto& [op, versions] : imported_operators()) {
        if (op.rfind("switchyard.", 0) == 0) continue;
        for (const int version : versions) {
            const int opset = opset_of(op, version);
            const onnx::OpSchema& schema = *onnx::OpSchemaRegistry::Schema(op, opset, "");
            const std::string before = base_case(op, opset).model.outcome();
            INFO(op << " of opset " << version);
            for (int i = base_case(op, opset).node().input_size(); i <= std::min(schema.max_input(), 9); ++i) {
                // A result of the network that nothing may ignore.
                OnnxCase more = base_case(op, opset);
                while (more.node().input_size() < i) more.node().add_input("");
                more.node().add_input("x");
                INFO("input " << i);
                CHECK(!more.model.refusal().empty());
                ++inputs;
            }
            for (int i = 1; i <= std::min(schema.max_output(), 9); ++i) {
                OnnxCase more = base_case(op, opset);
                while (more.node().output_size() < i) more.node().add_output("");
                more.node().add_output("further");
                more.model.output("further");
                INFO("result " << i);
                CHECK(!more.model.refusal().empty());
                ++outputs;
            }
        }
    }
    WARN(inputs << " inputs, " << outputs << " results");
}
