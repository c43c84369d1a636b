// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/values/transformer_reference.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "switchyard/platform/system/npy.h"

namespace switchyard::testing {

namespace {

using platform::NpyArray;
using Vector = std::vector<double>;
using Tokens = std::vector<Vector>;  ///< channels of each token

class TransformerParameters {
public:
    explicit TransformerParameters(std::string folder) : folder_(std::move(folder)) {}
    NpyArray operator()(const std::string& name) const { return platform::read_npy(folder_ + "/" + name + ".npy"); }

private:
    std::string folder_;
};

void transform(Tokens& tokens, const std::function<Vector(const Vector&)>& function) {
    for (Vector& token : tokens) token = function(token);
}

void add(Tokens& tokens, const Tokens& more) {
    for (std::size_t t = 0; t < tokens.size(); ++t)
        for (std::size_t c = 0; c < tokens[t].size(); ++c) tokens[t][c] += more[t][c];
}

/// weight: out, in.
Vector linear(const Vector& x, const NpyArray& weight, const NpyArray& bias) {
    Vector result;
    for (std::size_t k = 0; k < bias.values.size(); ++k) {
        double sum = bias.values[k];
        for (std::size_t c = 0; c < x.size(); ++c) sum += weight.values[k * x.size() + c] * x[c];
        result.push_back(sum);
    }
    return result;
}

/// The same with what its logits may be off after `steps` steps, of which it is the last.
ReferenceGates logits(const Vector& x, const NpyArray& weight, const NpyArray& bias, unsigned steps) {
    const Vector values = linear(x, weight, bias);
    ReferenceGates result;
    for (std::size_t k = 0; k < values.size(); ++k) {
        double magnitude = std::abs(double{bias.values[k]});
        for (std::size_t c = 0; c < x.size(); ++c) magnitude += std::abs(weight.values[k * x.size() + c] * x[c]);
        result.push_back({values[k], std::sqrt(2.0 * steps) * std::ldexp(1.0, -11) * magnitude});
    }
    return result;
}

Vector rectified(Vector x) {
    for (double& value : x) value = std::max(value, 0.0);
    return x;
}

Vector layer_norm(const Vector& x, const NpyArray& gain, const NpyArray& offset) {
    const auto count = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / count;
    for (const double value : x) variance += (value - mean) * (value - mean) / count;
    Vector result;
    for (std::size_t c = 0; c < x.size(); ++c)
        result.push_back((x[c] - mean) / std::sqrt(variance + 1e-5) * gain.values[c] + offset.values[c]);
    return result;
}

Vector softmax(Vector x) {
    const double largest = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (double& value : x) sum += value = std::exp(value - largest);
    for (double& value : x) value /= sum;
    return x;
}

/// All queries, then all keys, then all values, as PyTorch has them.
Tokens attention(const Tokens& qkv, std::size_t heads) {
    const std::size_t channels = qkv.front().size() / 3, head = channels / heads;
    Tokens result(qkv.size(), Vector(channels));
    for (std::size_t first = 0; first < channels; first += head) {
        for (std::size_t t = 0; t < qkv.size(); ++t) {
            Vector scores;
            for (const Vector& other : qkv) {
                double score = 0;
                for (std::size_t c = first; c < first + head; ++c) score += qkv[t][c] * other[channels + c];
                scores.push_back(score / std::sqrt(static_cast<double>(head)));
            }
            scores = softmax(scores);
            for (std::size_t c = first; c < first + head; ++c)
                for (std::size_t j = 0; j < qkv.size(); ++j) result[t][c] += scores[j] * qkv[j][2 * channels + c];
        }
    }
    return result;
}

Tokens embedded(const TransformerParameters& parameters, const float* image) {
    const NpyArray weight = parameters("embed.weight"), bias = parameters("embed.bias"), position = parameters("pos");
    Tokens tokens;
    for (std::size_t t = 0; t < kTokens; ++t) {
        tokens.push_back(linear({image + 8 * t, image + 8 * (t + 1)}, weight, bias));
        for (std::size_t c = 0; c < tokens.back().size(); ++c)
            tokens.back()[c] += position.values[t * tokens.back().size() + c];
    }
    return tokens;
}

Vector mean_of(const Tokens& tokens) {
    Vector mean(tokens.front().size());
    for (const Vector& token : tokens)
        for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += token[c] / static_cast<double>(tokens.size());
    return mean;
}

/// down' relu(up' x) of one expert; both: experts, in, out.
Vector expert_of(const Vector& x, const NpyArray& up, const NpyArray& down, std::size_t expert) {
    const auto multiplied = [expert](const Vector& in, const NpyArray& weight) {
        Vector result(weight.shape.at(2));
        for (std::size_t c = 0; c < in.size(); ++c)
            for (std::size_t k = 0; k < result.size(); ++k)
                result[k] += in[c] * weight.values[(expert * in.size() + c) * result.size() + k];
        return result;
    };
    return multiplied(rectified(multiplied(x, up)), down);
}

}  // namespace

std::vector<ReferenceGates> early_exit_labels(const std::string& folder, const float* image, std::size_t last) {
    constexpr unsigned kStepsOfLayer = 6;
    const TransformerParameters parameters(folder);
    Tokens h = embedded(parameters, image);
    std::vector<ReferenceGates> result;
    for (std::size_t layer = 0; layer <= last; ++layer) {
        const auto of_layer = [&](const char* name) { return parameters(fmt::format("enc.{}.{}", layer, name)); };
        const auto linear_of = [&](const std::string& weight, const std::string& bias) {
            return
                [w = of_layer(weight.c_str()), b = of_layer(bias.c_str())](const Vector& x) { return linear(x, w, b); };
        };
        const auto norm_of = [&](const std::string& name) {
            return [gain = of_layer((name + ".weight").c_str()), offset = of_layer((name + ".bias").c_str())](
                       const Vector& x) { return layer_norm(x, gain, offset); };
        };
        Tokens inner = h;
        transform(inner, linear_of("self_attn.in_proj_weight", "self_attn.in_proj_bias"));
        inner = attention(inner, 4);
        transform(inner, linear_of("self_attn.out_proj.weight", "self_attn.out_proj.bias"));
        add(h, inner);
        transform(h, norm_of("norm1"));
        inner = h;
        transform(inner, linear_of("linear1.weight", "linear1.bias"));
        transform(inner, rectified);
        transform(inner, linear_of("linear2.weight", "linear2.bias"));
        add(h, inner);
        transform(h, norm_of("norm2"));
        const unsigned steps = 1 + kStepsOfLayer * (static_cast<unsigned>(layer) + 1) + 2;
        result.push_back(logits(mean_of(h), parameters(fmt::format("heads.{}.weight", layer)),
                                parameters(fmt::format("heads.{}.bias", layer)), steps));
    }
    return result;
}

std::vector<ReferenceGates> moe_routers(const std::string& folder, const float* image,
                                        const std::vector<TokenExperts>& experts) {
    constexpr unsigned kStepsToRouter = 6, kStepsOfExperts = 4;
    const TransformerParameters parameters(folder);
    Tokens h = embedded(parameters, image);
    unsigned steps = 1;
    for (std::size_t layer = 0;; ++layer) {
        const auto of_layer = [&](const char* name, const char* what = "") {
            return parameters(fmt::format("{}.{}{}", name, layer, what));
        };
        const auto norm_of = [&](const char* name) {
            return [gain = of_layer(name, ".weight"), offset = of_layer(name, ".bias")](const Vector& x) {
                return layer_norm(x, gain, offset);
            };
        };
        const auto linear_of = [&](const char* name) {
            return [w = of_layer(name, ".weight"), b = of_layer(name, ".bias")](const Vector& x) {
                return linear(x, w, b);
            };
        };
        Tokens inner = h;
        transform(inner, norm_of("n1"));
        transform(inner, linear_of("qkv"));
        inner = attention(inner, 1);
        transform(inner, linear_of("out"));
        add(h, inner);
        Tokens u = h;
        transform(u, norm_of("n2"));
        steps += kStepsToRouter;
        std::vector<ReferenceGates> routers;
        for (const Vector& token : u)
            routers.push_back(logits(token, of_layer("router", ".weight"), of_layer("router", ".bias"), steps + 1));
        if (layer == experts.size()) return routers;
        const NpyArray up = of_layer("up"), down = of_layer("down");
        for (std::size_t t = 0; t < kTokens; ++t) {
            Vector scores;
            for (const ReferenceLogit& logit : routers[t]) scores.push_back(logit.value);
            const std::size_t expert = experts[layer][t];
            const double probability = softmax(scores).at(expert);
            const Vector y = expert_of(u[t], up, down, expert);
            for (std::size_t c = 0; c < y.size(); ++c) h[t][c] += probability * y[c];
        }
        steps += kStepsOfExperts;
    }
}

}  // namespace switchyard::testing
