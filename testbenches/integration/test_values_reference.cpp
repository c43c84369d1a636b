// SPDX-License-Identifier: Apache-2.0
// A network with every kind of operator that has values, on the chip and in plain loops: the same bits.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include "switchyard/platform/systems/adyna/accepted_image.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/platform/systems/adyna/simulation.h"
#include "switchyard/testbenches/half.h"
#include "switchyard/testbenches/integration/programs.h"
#include "switchyard/testbenches/sim_test.h"

using namespace switchyard;
using namespace switchyard::platform;
using namespace switchyard::testing;

namespace {

constexpr std::size_t kSamples = 12, kBatches = 2;

constexpr const char* kModel = R"(name: every_kind
batch: 12
input: {channels: 3, rows: 10, columns: 10}
layers:
  - {name: stem, kind: convolution, from: input, out_channels: 10, filter: 3, pad: 1, fused: [bias, relu], parameters: stem}
  - {name: deep, kind: depthwise, filter: 3, pad: 1, fused: [norm, relu], parameters: deep}
  - {name: small, kind: pool, filter: 2, stride: 2}
  - {name: average, kind: pool, filter: 3, pad: 1, pooling: mean}
  - {name: mean, kind: global_pool}
  - {name: gate, kind: matmul, out_channels: 3, fused: [bias], parameters: gate}
  - {name: experts, kind: switch, from: average, gate: gate, branches: 3, choose: any}
  - {name: first, kind: convolution, from: experts.0, out_channels: 10, filter: 1, fused: [bias, relu], parameters: first}
  - {name: second, kind: convolution, from: experts.1, out_channels: 10, filter: 3, pad: 1, fused: [bias, {add: experts.1}],
     parameters: second}
  - {name: third, kind: depthwise, from: experts.2, filter: 3, pad: 1, parameters: third}
  - {name: together, kind: merge, from: [first, second, third], mode: sum, fused: [relu]}
  - {name: one_gate, kind: convolution, from: together, out_channels: 2, filter: 5, fused: [bias], parameters: one_gate}
  - {name: choice, kind: switch, from: together, gate: one_gate, branches: 2, choose: one}
  - {name: strided, kind: convolution, from: choice.1, out_channels: 12, filter: 3, stride: 2, pad: 1, fused: [bias, relu],
     parameters: strided}
  - {name: cut, kind: convolution, from: choice.0, out_channels: 12, filter: 1, stride: 2, parameters: cut}
  - {name: rejoined, kind: merge, from: [strided, cut]}
  - {name: normed, kind: norm, parameters: normed}
  - {name: summary, kind: global_pool}
  - {name: head, kind: matmul, out_channels: 5, fused: [bias, sigmoid], parameters: head}
)";

float half(double value) {
    return static_cast<float>(static_cast<Half>(static_cast<float>(value)));
}

/// channels x rows x columns of one sample.
struct Map {
    std::size_t channels = 0, rows = 0, columns = 0;
    std::vector<float> values;
    Map(std::size_t c, std::size_t r, std::size_t s) : channels(c), rows(r), columns(s), values(c * r * s) {}
    float& at(std::size_t c, std::size_t r, std::size_t s) { return values[(c * rows + r) * columns + s]; }
    float at(std::size_t c, std::size_t r, std::size_t s) const { return values[(c * rows + r) * columns + s]; }
};

class Parameters {
public:
    explicit Parameters(const std::string& folder) : folder_(folder) {}

    /// Random values that binary16 holds, written where the host will look for them.
    std::vector<float> make(const std::string& name, std::vector<std::size_t> shape, float scale) {
        NpyArray array{std::move(shape), {}};
        std::size_t count = 1;
        for (const std::size_t size : array.shape) count *= size;
        for (std::size_t i = 0; i < count; ++i) {
            array.values.push_back(half(scale * (static_cast<float>(random_() % 2001) / 1000.0f - 1)));
        }
        write_npy(array, folder_ + "/" + name + ".npy");
        return array.values;
    }

private:
    std::string folder_;
    std::mt19937 random_{7};  ///< a seed with which samples take different branches at both switches
};

using Epilogue = std::function<float(float value, std::size_t channel, std::size_t row, std::size_t column)>;

Map convolve(const Map& in, std::size_t out_channels, const std::vector<float>& weights, std::size_t filter,
             std::size_t stride, std::size_t pad, bool depthwise, const Epilogue& epilogue) {
    const std::size_t rows = (in.rows + 2 * pad - filter) / stride + 1;
    const std::size_t columns = (in.columns + 2 * pad - filter) / stride + 1, depth = depthwise ? 1 : in.channels;
    Map out(out_channels, rows, columns);
    for (std::size_t k = 0; k < out_channels; ++k) {
        for (std::size_t p = 0; p < rows; ++p) {
            for (std::size_t q = 0; q < columns; ++q) {
                float sum = 0;
                for (std::size_t c = 0; c < depth; ++c) {
                    for (std::size_t r = 0; r < filter; ++r) {
                        for (std::size_t s = 0; s < filter; ++s) {
                            const std::size_t y = p * stride + r, x = q * stride + s;
                            const bool inside = y >= pad && x >= pad && y < in.rows + pad && x < in.columns + pad;
                            const float value = inside ? in.at(depthwise ? k : c, y - pad, x - pad) : 0.0f;
                            sum += value * weights[((k * depth + c) * filter + r) * filter + s];
                        }
                    }
                }
                out.at(k, p, q) = half(epilogue(sum, k, p, q));
            }
        }
    }
    return out;
}

Map pool(const Map& in, std::size_t filter, std::size_t stride, std::size_t pad, bool mean) {
    const std::size_t rows = (in.rows + 2 * pad - filter) / stride + 1;
    const std::size_t columns = (in.columns + 2 * pad - filter) / stride + 1;
    Map out(in.channels, rows, columns);
    for (std::size_t k = 0; k < in.channels; ++k) {
        for (std::size_t p = 0; p < rows; ++p) {
            for (std::size_t q = 0; q < columns; ++q) {
                float result = mean ? 0 : -INFINITY;
                for (std::size_t r = 0; r < filter; ++r) {
                    for (std::size_t s = 0; s < filter; ++s) {
                        const std::size_t y = p * stride + r, x = q * stride + s;
                        if (y < pad || x < pad || y >= in.rows + pad || x >= in.columns + pad) continue;
                        const float value = in.at(k, y - pad, x - pad);
                        result = mean ? result + value : std::max(result, value);
                    }
                }
                out.at(k, p, q) = half(mean ? result / static_cast<float>(filter * filter) : result);
            }
        }
    }
    return out;
}

/// How far a mean over rows and columns may be off: binary16 shares of up to `rows` parts.
Map global_mean(const Map& in) {
    Map out(in.channels, 1, 1);
    for (std::size_t k = 0; k < in.channels; ++k) {
        double sum = 0;
        for (std::size_t p = 0; p < in.rows; ++p) {
            for (std::size_t q = 0; q < in.columns; ++q) sum += in.at(k, p, q);
        }
        out.at(k, 0, 0) = half(sum / static_cast<double>(in.rows * in.columns));
    }
    return out;
}

float relu(float value) {
    return value > 0 ? value : 0;
}

struct Reference {
    std::vector<float> outputs;
    std::vector<std::uint64_t> experts, choice;
};

/// What the chip computes for a model whose values are in `folder`.
NpyArray on_chip(const std::string& model, const std::string& folder,
                 const std::map<std::string, std::string>& settings, std::vector<BatchRouting>& routed,
                 const std::string& options = "") {
    const std::string path = scratch("model.yaml"), compiled = scratch("model.syk");
    write_text(path, model);
    const Outcome outcome =
        sy_sched("compile " + path + " --platform " + kMini + " --design adyna -o " + compiled + options);
    REQUIRE(outcome.err.empty());
    REQUIRE(outcome.status == 0);
    std::map<std::string, std::string> overrides = settings;
    overrides["chip.functional"] = "on";
    const PlatformConfig platform = read_platform(kMini, overrides);
    const std::string text = read_text(compiled);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    const Image image = decode_image_for(platform, bytes, "model");
    const bool shares = std::any_of(image.tiles.begin(), image.tiles.end(), [](const TileProgram& program) {
        const auto& ops = program.operators;
        return std::adjacent_find(ops.begin(), ops.end(), [](const TileOperator& a, const TileOperator& b) {
                   return a.segment == b.segment;
               }) != ops.end();
    });
    // With the profile, of rare branches; without, they may in compacted segments.
    CHECK((shares || options.find("--profile") == std::string::npos));
    NetworkValues values(image, folder, folder + "/inputs.npy");
    REQUIRE(values.batches() == kBatches);
    const std::vector<BatchRouting> none(
        kBatches, BatchRouting{kSamples, {image.meta.switches.size(), std::vector<std::uint64_t>(kSamples, 0)}});
    RunOptions run;
    run.values = &values;
    const RunResult result = run_simulation(platform, image, bytes, none, run);
    routed = result.host.routed;
    return values.output();
}

/// The model up to a layer, which is the output then.
std::string model_until(const std::string& layer) {
    const std::string model = kModel;
    const std::size_t at = model.find("{name: " + layer + ",");
    REQUIRE(at != std::string::npos);
    return model.substr(0, model.find("  - {", at));
}

}  // namespace

TEST_CASE("every kind of operator computes on the chip what plain loops compute", "[values]") {
    const std::string folder = scratch("weights");
    std::filesystem::create_directories(folder);
    Parameters make(folder);
    const auto stem = make.make("stem.weight", {10, 3, 3, 3}, 0.4f), stem_bias = make.make("stem.bias", {10}, 0.2f);
    const auto deep = make.make("deep.weight", {10, 1, 3, 3}, 0.5f), gain = make.make("deep.gain", {10}, 1),
               offset = make.make("deep.offset", {10}, 0.3f);
    const auto gate = make.make("gate.weight", {3, 10}, 1), gate_bias = make.make("gate.bias", {3}, 0.4f);
    const auto first = make.make("first.weight", {10, 10, 1, 1}, 0.5f),
               first_bias = make.make("first.bias", {10}, 0.2f);
    const auto second = make.make("second.weight", {10, 10, 3, 3}, 0.2f),
               second_bias = make.make("second.bias", {10}, 0.2f);
    const auto third = make.make("third.weight", {10, 1, 3, 3}, 0.5f);
    const auto one_gate = make.make("one_gate.weight", {2, 10, 5, 5}, 0.3f),
               one_gate_bias = make.make("one_gate.bias", {2}, 0.1f);
    const auto strided = make.make("strided.weight", {12, 10, 3, 3}, 0.3f),
               strided_bias = make.make("strided.bias", {12}, 0.2f);
    const auto cut = make.make("cut.weight", {12, 10, 1, 1}, 0.5f);
    const auto normed_gain = make.make("normed.gain", {12}, 1), normed_offset = make.make("normed.offset", {12}, 0.3f);
    const auto head = make.make("head.weight", {5, 12}, 0.8f), head_bias = make.make("head.bias", {5}, 0.2f);
    const auto inputs = make.make("inputs", {kBatches * kSamples, 3, 10, 10}, 1);

    Reference reference;
    std::map<std::string, std::vector<float>> steps;  ///< results of the layers in front of the first global mean
    for (std::size_t sample = 0; sample < kBatches * kSamples; ++sample) {
        Map image(3, 10, 10);
        std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(sample * 300), 300, image.values.begin());
        const auto with_bias = [](const std::vector<float>& bias, bool rectified) {
            return [&bias, rectified](float v, std::size_t k, std::size_t, std::size_t) {
                return rectified ? relu(v + bias[k]) : v + bias[k];
            };
        };
        const Epilogue nothing = [](float v, std::size_t, std::size_t, std::size_t) { return v; };
        const Map a = convolve(image, 10, stem, 3, 1, 1, false, with_bias(stem_bias, true));
        const Map b = convolve(a, 10, deep, 3, 1, 1, true, [&](float v, std::size_t k, std::size_t, std::size_t) {
            return relu(v * gain[k] + offset[k]);
        });
        const Map halved = pool(b, 2, 2, 0, false), c = pool(halved, 3, 1, 1, true);
        const auto keep = [&steps](const char* layer, const Map& map) {
            std::vector<float>& all = steps[layer];
            all.insert(all.end(), map.values.begin(), map.values.end());
        };
        keep("stem", a);
        keep("deep", b);
        keep("small", halved);
        keep("average", c);
        const Map decision = convolve(global_mean(c), 3, gate, 1, 1, 0, false, with_bias(gate_bias, false));
        std::uint64_t mask = 0;
        for (std::size_t branch = 0; branch < 3; ++branch)
            mask |= (decision.at(branch, 0, 0) > 0 ? 1ull : 0ull) << branch;
        reference.experts.push_back(mask);

        const Map one = convolve(c, 10, first, 1, 1, 0, false, with_bias(first_bias, true));
        const Map two = convolve(
            c, 10, second, 3, 1, 1, false,
            [&](float v, std::size_t k, std::size_t p, std::size_t q) { return v + second_bias[k] + c.at(k, p, q); });
        const Map three = convolve(c, 10, third, 3, 1, 1, true, nothing);
        Map together(10, 5, 5);
        for (std::size_t i = 0; i < together.values.size(); ++i) {
            float sum = 0;
            if (mask & 1) sum += one.values[i];
            if (mask & 2) sum += two.values[i];
            if (mask & 4) sum += three.values[i];
            together.values[i] = half(relu(sum));
        }
        const Map chosen = convolve(together, 2, one_gate, 5, 1, 0, false, with_bias(one_gate_bias, false));
        const bool takes_second = chosen.at(1, 0, 0) > chosen.at(0, 0, 0);
        reference.choice.push_back(takes_second ? 2 : 1);
        Map rejoined = takes_second ? convolve(together, 12, strided, 3, 2, 1, false, with_bias(strided_bias, true))
                                    : convolve(together, 12, cut, 1, 2, 0, false, nothing);
        for (std::size_t k = 0; k < 12; ++k) {
            for (std::size_t i = 0; i < 9; ++i) {
                float& value = rejoined.values[k * 9 + i];
                value = half(value * normed_gain[k] + normed_offset[k]);
            }
        }
        const Map answer = convolve(global_mean(rejoined), 5, head, 1, 1, 0, false,
                                    [&](float v, std::size_t k, std::size_t, std::size_t) {
                                        return static_cast<float>(1 / (1 + std::exp(-double{v + head_bias[k]})));
                                    });
        reference.outputs.insert(reference.outputs.end(), answer.values.begin(), answer.values.end());
    }
    // The routing must be worth the name.
    const auto varies = [](const std::vector<std::uint64_t>& masks) {
        return std::any_of(masks.begin(), masks.end(), [&](std::uint64_t mask) { return mask != masks.front(); });
    };
    CHECK(varies(reference.experts));
    CHECK(varies(reference.choice));

    for (const auto& [layer, values] : steps) {
        in_child([&, name = layer, &wanted = values] {
            INFO(name);
            std::vector<BatchRouting> routed;
            const NpyArray got = on_chip(model_until(name), folder, {}, routed);
            REQUIRE(got.values.size() == wanted.size());
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < wanted.size(); ++i) wrong += got.values[i] != wanted[i] ? 1 : 0;
            CHECK(wrong == 0);
        });
    }
    const std::string impl = GENERATE("analytic", "cycle");
    // Branches that are said to be rare share tiles; without pipelining all tensors, the shares of means too, go
    // through HBM. The routes, and so the results, are what they are.
    std::string options = GENERATE("", "rare", " --without pipelining");
    if (options == "rare") {
        const std::string profile = scratch("rare.json");
        std::string operators;
        for (const char* const name : {"first", "second", "third", "strided", "cut"})
            operators += std::string(operators.empty() ? "\"" : ", \"") + name + R"(": {"0": 7, "1": 3})";
        write_text(profile,
                   R"({"batch_samples": 12, "unit_samples": 12, "batches": 10, "operators": {)" + operators + "}}\n");
        options = " --profile " + profile;
    }
    in_child([&] {
        std::vector<BatchRouting> routed;
        const NpyArray got = on_chip(kModel, folder, {{"pe_array.impl", impl}}, routed, options);
        for (std::size_t batch = 0; batch < kBatches; ++batch) {
            for (std::size_t i = 0; i < kSamples; ++i) {
                INFO("batch " << batch << " sample " << i);
                CHECK(routed.at(batch).masks[0][i] == reference.experts[batch * kSamples + i]);
                CHECK(routed.at(batch).masks[1][i] == reference.choice[batch * kSamples + i]);
            }
        }
        REQUIRE(got.values.size() == reference.outputs.size());
        // Bit for bit but for the two global means, whose shares are rounded once more: a unit in the last place of the
        // sums they go into.
        for (std::size_t i = 0; i < got.values.size(); ++i) {
            INFO("output " << i);
            CHECK(std::abs(got.values[i] - reference.outputs[i]) <= 2 * std::ldexp(1.0f, -11));
        }
    });
}
