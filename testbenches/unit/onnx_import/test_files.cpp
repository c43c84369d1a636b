// SPDX-License-Identifier: Apache-2.0
// What a file may hold: types of constants, their bytes, other files, and what is refused with a reason.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/scratch_folder.h"
#include "switchyard/testbenches/catch.h"
#include "switchyard/testbenches/unit/onnx_import/onnx_model.h"

using namespace switchyard::sched;

namespace {

using Dims = OnnxModel::Dims;
using Tensor = onnx::TensorProto;

constexpr int kTypes[] = {Tensor::FLOAT, Tensor::DOUBLE, Tensor::FLOAT16, Tensor::BFLOAT16,
                          Tensor::INT8,  Tensor::INT16,  Tensor::INT32,   Tensor::INT64,
                          Tensor::UINT8, Tensor::UINT16, Tensor::UINT32,  Tensor::UINT64};

OnnxModel linear(const Dims& dims = {4, 2}) {
    OnnxModel model;
    model.input("x", {3, 4}).output("y").floats("w", dims, {1, 2, 3, 4, 5, 6, 7, 8});
    model.node("MatMul", {"x", "w"}, {"y"});
    return model;
}

template <typename Value>
std::string raw(const std::vector<int>& values) {
    std::string bytes;
    for (const int one : values) {
        const auto value = static_cast<Value>(one);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
}

std::string raw_of(int type, const std::vector<int>& values) {
    std::string bytes;
    switch (type) {
        case Tensor::FLOAT:
            return raw<float>(values);
        case Tensor::DOUBLE:
            return raw<double>(values);
        case Tensor::INT8:
        case Tensor::UINT8:
            return raw<std::uint8_t>(values);
        case Tensor::INT16:
        case Tensor::UINT16:
            return raw<std::uint16_t>(values);
        case Tensor::INT32:
        case Tensor::UINT32:
            return raw<std::uint32_t>(values);
        case Tensor::INT64:
        case Tensor::UINT64:
            return raw<std::uint64_t>(values);
        default:
            break;
    }
    for (const int one : values) {
        const auto value = static_cast<float>(one);
        std::uint32_t wide;
        std::memcpy(&wide, &value, sizeof wide);
        // Of small whole numbers both shorter types are exact.
        const std::uint32_t exponent = (wide >> 23) - 127 + 15;
        const auto bits =
            static_cast<std::uint16_t>(type == Tensor::BFLOAT16 ? wide >> 16 : (exponent << 10 | (wide >> 13 & 1023)));
        bytes.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    return bytes;
}

void fill(onnx::TensorProto& tensor, int type, const std::string& bytes, bool as_raw) {
    tensor.clear_float_data();
    tensor.set_data_type(type);
    if (as_raw) {
        tensor.set_raw_data(bytes);
        return;
    }
    const std::size_t size = bytes.size() / 8;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + at, size);
        float number;
        double wide;
        std::memcpy(&number, &bits, sizeof number);
        std::memcpy(&wide, &bits, sizeof wide);
        if (type == Tensor::FLOAT)
            tensor.add_float_data(number);
        else if (type == Tensor::DOUBLE)
            tensor.add_double_data(wide);
        else if (type == Tensor::INT64)
            tensor.add_int64_data(static_cast<std::int64_t>(bits));
        else if (type == Tensor::UINT32 || type == Tensor::UINT64)
            tensor.add_uint64_data(bits);
        else
            tensor.add_int32_data(static_cast<std::int32_t>(bits));
    }
}

}  // namespace

TEST_CASE("Constants of every type of numbers have their values, in both forms that ONNX has") {
    for (const int type : kTypes)
        for (const bool as_raw : {true, false}) {
            OnnxModel model = linear();
            fill(*model.graph().mutable_initializer(0), type, raw_of(type, {1, 2, 3, 4, 5, 6, 7, 8}), as_raw);
            INFO("type " << type << ", raw " << as_raw);
            // The model format has them transposed: [out, in].
            CHECK(weights(model.import(true), "the_MatMul.weight") == std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8});
        }
}

TEST_CASE("All 65,536 values of FLOAT16 are read as they are") {
    OnnxModel model;
    model.input("x", {1, 256}).output("y").floats("w", {256, 256}, std::vector<float>(65536, 0));
    set(model.node("Gemm", {"x", "w"}, {"y"}), "transB", std::int64_t{1});
    std::string bytes;
    for (unsigned bits = 0; bits < 65536; ++bits) {
        bytes += static_cast<char>(bits & 255);
        bytes += static_cast<char>(bits >> 8);
    }
    fill(*model.graph().mutable_initializer(0), Tensor::FLOAT16, bytes, true);
    const ImportedModel imported = model.import(true);
    const std::vector<float>& values = weights(imported, "the_Gemm.weight");
    REQUIRE(values.size() == 65536);
    int wrong = 0;
    for (unsigned bits = 0; bits < 65536; ++bits) {
        const int exponent = static_cast<int>(bits >> 10 & 31);
        const double fraction = static_cast<double>(bits & 1023) / 1024;
        double expected = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
        if (exponent == 31) expected = std::numeric_limits<double>::infinity();
        if (exponent == 31 && fraction != 0) {
            wrong += std::isnan(values[bits]) ? 0 : 1;
            continue;
        }
        wrong += static_cast<double>(values[bits]) == ((bits & 0x8000) != 0 ? -expected : expected) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("Constants of other types are refused with their name") {
    for (const int type : {0, int{Tensor::STRING}, int{Tensor::COMPLEX64}, int{Tensor::COMPLEX128}, 17, 1000, -1}) {
        OnnxModel model = linear();
        model.graph().mutable_initializer(0)->set_data_type(type);
        INFO("type " << type);
        CHECK_THAT(model.refusal(), Catch::Contains("its constant w: expected floats, integers or booleans, found"));
    }
}

TEST_CASE("A constant whose bytes do not fit its dimensions is refused, whatever the two are") {
    const std::int64_t huge = std::int64_t{1} << 62;
    for (const Dims& dims :
         {Dims{4, 3}, Dims{8}, Dims{-4, -2}, Dims{-1, 8}, Dims{huge, 4}, Dims{huge, huge, 4},
          Dims{std::numeric_limits<std::int64_t>::min(), 2}, Dims{std::int64_t{1} << 32, 1 << 30}, Dims{}})
        for (const std::size_t size : {0u, 1u, 4u, 31u, 33u, 64u}) {
            OnnxModel model = linear();
            onnx::TensorProto& tensor = *model.graph().mutable_initializer(0);
            tensor.clear_dims();
            for (const std::int64_t dim : dims) tensor.add_dims(dim);
            tensor.clear_float_data();
            tensor.set_raw_data(std::string(size, '\1'));
            INFO(dims.size() << " dimensions, " << size << " bytes");
            if (dims.empty() && size == 4)
                CHECK_THAT(model.refusal(true), Catch::Contains("its weights: expected a matrix"));
            else
                CHECK_THAT(model.refusal(true), Catch::Contains("network.onnx: w: expected"));
        }
}

TEST_CASE("Values in a file next to the model are read there") {
    const switchyard::ScratchFolder folder("onnx");
    std::ofstream(folder.file("data.bin")) << "front" << raw<float>({1, 2, 3, 4, 5, 6, 7, 8}) << "end";
    OnnxModel model = linear();
    onnx::TensorProto& tensor = *model.graph().mutable_initializer(0);
    tensor.clear_float_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    const auto key = [&](const char* name, const std::string& value) {
        onnx::StringStringEntryProto& one = *tensor.add_external_data();
        one.set_key(name);
        one.set_value(value);
    };
    const std::string path = folder.file("network.onnx");
    const auto said = [&](bool values) -> std::string {
        try {
            model.import(values, path);
            return "";
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    SECTION("with an offset and a length") {
        key("location", "data.bin"), key("offset", "5"), key("length", "32");
        CHECK(weights(model.import(true, path), "the_MatMul.weight") == std::vector<float>{1, 3, 5, 7, 2, 4, 6, 8});
    }
    SECTION("in a file that is missing or too short, which only matters where values are needed") {
        key("location", GENERATE("data.bin", "none.bin")), key("offset", "9");
        CHECK(said(false).empty());
        CHECK_THAT(said(true),
                   Catch::Contains("data.bin: expected 32 bytes from byte 9 on for w of network.onnx, found 40") ||
                       Catch::Contains("none.bin: "));
    }
    SECTION("not outside of the model's folder") {
        key("location", GENERATE("../data.bin", "/etc/passwd", "a/../../data.bin", ""));
        CHECK_THAT(said(false), Catch::Contains("expected a path relative to the model's folder"));
    }
    SECTION("not through a link that leaves it") {
        REQUIRE(symlink("/etc/passwd", folder.file("link").c_str()) == 0);
        key("location", "link");
        CHECK_THAT(said(true), Catch::Contains("a link that leaves the model's folder"));
    }
    SECTION("with keys that are understood") {
        const auto [name, value] = GENERATE(table<const char*, const char*>({{"offset", "-1"},
                                                                             {"offset", "1e3"},
                                                                             {"offset", "99999999999999999999"},
                                                                             {"length", "31"},
                                                                             {"length", ""},
                                                                             {"checksum", "0"}}));
        key("location", "data.bin"), key(name, value);
        CHECK_THAT(said(false), Catch::Contains(name) && Catch::Contains("external data"));
    }
}

TEST_CASE("The input is refused for what is wrong with it") {
    const auto [dims, reason] = GENERATE(table<Dims, const char*>(
        {{Dims{1, 3, -1, -1},
          "the input x: expected a fixed size of 1 or more as dimension 2, found [1, 3, ?, ?]; export"},
         {Dims{1, 3, 0, 8}, "as dimension 2, found [1, 3, 0, 8]"},
         {Dims{0, 3, 8, 8}, "as dimension 0, found [0, 3, 8, 8]"},
         {Dims{1, 3, 4, 4, 4}, "the input x: expected 2 to 4 dimensions, found [1, 3, 4, 4, 4]"},
         {Dims{4}, "the input x: expected 2 to 4 dimensions, found [4]"},
         {Dims{1, 3, -7, 8}, "x: dimension 2: expected 0 to 2147483648, found -7"},
         {Dims{1, 3, std::int64_t{1} << 40, 8}, "x: dimension 2: expected 0 to"},
         {Dims{1, std::int64_t{1} << 30, std::int64_t{1} << 30, 8},
          "expected at most 1099511627776 elements a sample, found"},
         {Dims{}, "the input x: expected 2 to 4 dimensions, found unknown ones"}}));
    OnnxModel model;
    model.input("x", dims).output("y").floats("w", {4, 3, 3, 3});
    model.node("Conv", {"x", "w"}, {"a"});
    model.node("Flatten", {"a"}, {"b"});
    model.node("Relu", {"b"}, {"y"});
    CHECK_THAT(model.refusal(), Catch::Contains(reason));
}

TEST_CASE("A batch that is open is that of the option, or 1") {
    OnnxModel model;
    model.input("x", {-1, 8}).output("y", {-1, 8});
    model.node("Relu", {"x"}, {"y"});
    CHECK_THAT(model.import().text, Catch::Contains("batch: 1\n"));
}

TEST_CASE("A message is short, whatever the file says") {
    OnnxModel model;
    model.input("x", {1, 8}).output("y");
    const int count = GENERATE(1, 5, 1000);
    for (int i = 0; i < count; ++i) {
        onnx::NodeProto& node = model.node("Det", {"x"}, {fmt::format("y{}", i)});
        node.set_name(fmt::format("{}\n\x1b[31m{}", i, std::string(100000 / count, 'n')));
        model.output(fmt::format("y{}", i));
    }
    model.graph().mutable_output()->DeleteSubrange(0, 1);
    const std::string message = model.refusal();  // checks its length
    CHECK_THAT(message, Catch::Contains("Det (node 0??[31mnnn"));
    CHECK(message.find('\x1b') == std::string::npos);
    if (count == 1000) CHECK_THAT(message, Catch::Contains("for 1000 reasons") && Catch::Contains(" more"));
}

TEST_CASE("Other things that a file may hold are refused with their name") {
    OnnxModel model = linear();
    SECTION("sparse constants") {
        model.graph().add_sparse_initializer()->mutable_values()->set_name("s");
        CHECK_THAT(model.refusal(), Catch::Contains("s: expected a dense initializer, found a sparse one"));
    }
    SECTION("functions that have the place of known operators") {
        auto& function = *model.proto().add_functions();
        function.set_name("MatMul");
        function.set_domain(GENERATE("", "ai.onnx", "switchyard"));
        CHECK_THAT(model.refusal(),
                   Catch::Contains("MatMul: expected functions of domains of their own, found a function of"));
    }
    SECTION("two constants of a name") {
        *model.graph().add_initializer() = model.graph().initializer(0);
        CHECK_THAT(model.refusal(), Catch::Contains("w: expected one initializer of this name, found two"));
    }
    SECTION("an output that nothing makes") {
        model.output("z");
        CHECK_THAT(model.refusal(), Catch::Contains("z: expected a node that makes this output, found none"));
    }
    SECTION("a constant as an output") {
        model.output("w");
        CHECK_THAT(model.refusal(),
                   Catch::Contains("the output w: expected a result that depends on the input, found a constant"));
    }
    SECTION("no graph") {
        model.proto().clear_graph();
        CHECK_THAT(model.refusal(), Catch::Contains("expected an ONNX model, found one without a graph"));
    }
}
