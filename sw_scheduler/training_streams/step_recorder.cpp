// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/training_streams/step_recorder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace switchyard::sched {

namespace {

// A key or a site: place of the program, number of the operator there, and what it is of.
constexpr std::uint64_t kPerPlace = 4096;
constexpr std::uint64_t kGradientKey = std::uint64_t{1} << 56, kParameterKey = std::uint64_t{1} << 60;
constexpr std::uint64_t kBackwardSite = std::uint64_t{1} << 56, kOptimiserSite = std::uint64_t{1} << 60;

std::uint32_t clipped(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xFFFFFFFF));
}

/// Keys of gradients: a bijection of 64-bit numbers (splitmix64), so that they are spread over all of them.
std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

}  // namespace

StepRecorder::StepRecorder(KernelTimes& times, std::string network, std::uint32_t samples) : times_(times) {
    stream_.network = std::move(network);
    stream_.samples = samples;
}

void StepRecorder::at(std::uint64_t place, unsigned body) {
    place_ = place;
    next_ = 0;
    new_body_ = bodies_.insert(body).second;
}

void StepRecorder::control_flow(unsigned number) {
    ++pending_flows_;
    if (!flows_.insert(number).second) return;
    ProgramRow row;
    row.control_flow = true;
    program_.push_back(row);
}

TensorId StepRecorder::add_tensor(std::string name, std::uint64_t elements, TensorKind kind, std::uint64_t key) {
    TrainingTensor tensor;
    tensor.name = std::move(name);
    tensor.bytes = 4 * elements;
    tensor.kind = kind;
    tensor.key = key;
    stream_.tensors.push_back(std::move(tensor));
    elements_.push_back(elements);
    return static_cast<TensorId>(stream_.tensors.size() - 1);
}

TensorId StepRecorder::parameter(const std::string& name, std::uint64_t elements) {
    const auto found = parameters_.find(name);
    if (found != parameters_.end()) return found->second;
    // The same in all paths, whatever other parameters they have: from the name (FNV-1a).
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    const TensorId id = add_tensor(name, elements, TensorKind::parameter, kParameterKey | (hash >> 8));
    parameters_.emplace(name, id);
    return id;
}

TensorId StepRecorder::input(std::uint64_t elements) {
    return add_tensor("input", elements, TensorKind::input, place_ * kPerPlace + next_++);
}

TensorId StepRecorder::result(const char* name, std::uint64_t elements) {
    return add_tensor(name, elements, TensorKind::activation, place_ * kPerPlace + next_++);
}

double StepRecorder::streamed_ns(std::initializer_list<std::uint64_t> element_counts) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : element_counts) sum += 4 * count;
    return times_.memory_ns(sum);
}

TrainingOperator StepRecorder::make(OpType type, TrainingPhase phase, std::uint64_t site, double ns,
                                    double flops) const {
    const OperatorType& kind = operator_type(type);
    TrainingOperator op;
    op.name = kind.name;
    op.phase = phase;
    op.ns = ns;
    op.flops = flops;
    op.idioms = kind.idioms;
    op.type = static_cast<std::uint32_t>(type);
    op.site = site;
    return op;
}

void StepRecorder::launch(OpType type, const std::vector<TensorId>& reads, const std::vector<TensorId>& writes,
                          double ns, double flops, std::vector<Backward> backward) {
    const std::uint64_t site = place_ * kPerPlace + next_++;
    TrainingOperator op = make(type, TrainingPhase::forward, site, ns, flops);
    op.reads = reads;
    op.writes = writes;
    // Dimensions of the inputs (Fig. 3: rows and columns summed over them), of activations a batch has the same rows.
    std::uint64_t columns = 0;
    for (const TensorId id : reads) columns += elements(id) / stream_.samples;
    op.sizes = {stream_.samples, clipped(columns), clipped(reads.size())};
    op.control_flows = pending_flows_;
    pending_flows_ = 0;
    if (new_body_) program_.push_back({false, op.idioms, op.sizes, op.type});
    Step step{writes, {}, site, op.sizes};
    for (Backward& b : backward)
        if (needs_gradient(b.target)) step.backward.push_back(std::move(b));
    stream_.operators.push_back(std::move(op));
    tape_.push_back(std::move(step));
}

TensorId StepRecorder::linear(TensorId x, const std::string& weights, std::uint64_t rows, std::uint64_t in,
                              std::uint64_t out) {
    const TensorId w = parameter(weights, in * out + out);
    const TensorId y = result("linear", rows * out);
    const double flops = 2.0 * static_cast<double>(rows) * static_cast<double>(in) * static_cast<double>(out);
    launch(OpType::product, {x, w}, {y}, times_.product_ns(rows, in, out), flops,
           {{OpType::product_backward_weight, {x}, w, times_.product_ns(in, rows, out), flops},
            {OpType::product_backward_data, {w}, x, times_.product_ns(rows, out, in), flops}});
    return y;
}

TensorId StepRecorder::product(TensorId a, TensorId b, std::uint64_t count, std::uint64_t m, std::uint64_t k,
                               std::uint64_t n) {
    const TensorId y = result("product", count * m * n);
    const double flops = 2.0 * static_cast<double>(count * m) * static_cast<double>(k) * static_cast<double>(n);
    launch(OpType::product, {a, b}, {y}, times_.product_ns(count * m, k, n), flops,
           {{OpType::product_backward_data, {b}, a, times_.product_ns(count * m, n, k), flops},
            {OpType::product_backward_data, {a}, b, times_.product_ns(count * n, m, k), flops}});
    return y;
}

TensorId StepRecorder::convolution(TensorId x, const std::string& weights, const GpuOperator& op) {
    const TensorId w = parameter(weights, op.weight_bytes() / 4 + op.out_channels);
    const TensorId y = result("convolution", op.outputs());
    GpuOperator data = op;
    std::swap(data.in_channels, data.out_channels);
    std::swap(data.in_height, data.out_height);
    std::swap(data.in_width, data.out_width);
    const auto flops = static_cast<double>(op.flops());
    const double ns = times_.convolution_ns(op);
    // The gradient of the weights has the products of the convolution itself.
    launch(OpType::convolution, {x, w}, {y}, ns, flops,
           {{OpType::convolution_backward_weight, {x}, w, ns, flops},
            {OpType::convolution_backward_data, {w}, x, times_.convolution_ns(data), flops}});
    return y;
}

TensorId StepRecorder::add(TensorId a, TensorId b) {
    const std::uint64_t n = elements(a);
    const TensorId y = result("add", n);
    // The gradient of a sum is that of each operand: no kernel, the same tensor.
    launch(OpType::add, {a, b}, {y}, streamed_ns({n, n, n}), static_cast<double>(n),
           {{OpType::add, {}, a, 0, 0}, {OpType::add, {}, b, 0, 0}});
    return y;
}

TensorId StepRecorder::multiply(TensorId a, TensorId b) {
    const std::uint64_t n = elements(a);
    const TensorId y = result("multiply", n);
    const double ns = streamed_ns({n, n, n});
    const auto flops = static_cast<double>(n);
    launch(OpType::multiply, {a, b}, {y}, ns, flops,
           {{OpType::multiply_backward, {b}, a, ns, flops}, {OpType::multiply_backward, {a}, b, ns, flops}});
    return y;
}

TensorId StepRecorder::unary(OpType forward, OpType backward, TensorId x, bool saves_input) {
    const std::uint64_t n = elements(x);
    const TensorId y = result(operator_type(forward).name, n);
    launch(forward, {x}, {y}, streamed_ns({n, n}), static_cast<double>(n),
           {{backward, {saves_input ? x : y}, x, streamed_ns({n, n, n}), static_cast<double>(n)}});
    return y;
}

TensorId StepRecorder::dropout(TensorId x) {
    const std::uint64_t n = elements(x);
    const TensorId y = result("dropout", n), mask = result("mask", (n + 3) / 4);
    launch(OpType::dropout, {x}, {y, mask}, streamed_ns({n, n, n / 4}), static_cast<double>(n),
           {{OpType::dropout_backward, {mask}, x, streamed_ns({n, n, n / 4}), static_cast<double>(n)}});
    return y;
}

TensorId StepRecorder::layer_norm(TensorId x, const std::string& weights, std::uint64_t channels) {
    const std::uint64_t n = elements(x);
    const TensorId w = parameter(weights, 2 * channels);
    const TensorId y = result("layer_norm", n);
    const auto flops = 5 * static_cast<double>(n);
    launch(OpType::layer_norm, {x, w}, {y}, streamed_ns({n, n, n}), flops,
           {{OpType::layer_norm_backward, {x}, w, streamed_ns({n, n}), flops},
            {OpType::layer_norm_backward, {x, w}, x, streamed_ns({n, n, n}), flops}});
    return y;
}

TensorId StepRecorder::pool(TensorId x, std::uint64_t out_elements) {
    const std::uint64_t n = elements(x);
    const TensorId y = result("pool", out_elements);
    launch(OpType::pool, {x}, {y}, streamed_ns({n, out_elements}), static_cast<double>(n),
           {{OpType::pool_backward, {x}, x, streamed_ns({n, n, out_elements}), static_cast<double>(n)}});
    return y;
}

TensorId StepRecorder::transpose(TensorId x) {
    const std::uint64_t n = elements(x);
    const TensorId y = result("transpose", n);
    launch(OpType::transpose, {x}, {y}, streamed_ns({n, n}), 0, {{OpType::transpose, {}, x, streamed_ns({n, n}), 0}});
    return y;
}

TensorId StepRecorder::mean(TensorId x, std::uint64_t out_elements) {
    const std::uint64_t n = elements(x);
    const TensorId y = result("mean", out_elements);
    launch(OpType::mean, {x}, {y}, streamed_ns({n, out_elements}), static_cast<double>(n),
           {{OpType::mean_backward, {}, x, streamed_ns({n, out_elements}), static_cast<double>(n)}});
    return y;
}

TensorId StepRecorder::concatenate(const std::vector<TensorId>& parts) {
    std::uint64_t n = 0;
    for (const TensorId part : parts) n += elements(part);
    const TensorId y = result("concatenate", n);
    std::vector<Backward> backward;
    backward.reserve(parts.size());
    for (const TensorId part : parts)
        backward.push_back({OpType::concatenate, {}, part, streamed_ns({elements(part), elements(part)}), 0});
    launch(OpType::concatenate, parts, {y}, streamed_ns({n, n}), 0, backward);
    return y;
}

TensorId StepRecorder::embedding(TensorId indices, const std::string& table, std::uint64_t entries, std::uint64_t rows,
                                 std::uint64_t width) {
    const TensorId w = parameter(table, entries * width);
    const TensorId y = result("embedding", rows * width);
    launch(OpType::gather, {indices, w}, {y}, streamed_ns({rows * width, rows * width}), 0,
           {{OpType::gather_backward, {indices}, w, streamed_ns({entries * width, rows * width}), 0}});
    return y;
}

std::vector<TensorId> StepRecorder::split(TensorId x, unsigned parts) {
    std::vector<TensorId> views;
    for (unsigned i = 0; i < parts; ++i) {
        const TensorId view = result("view", elements(x) / parts);
        stream_.tensors[view].bytes = 0;
        stream_.tensors[view].alias_of = stream_.storage_of(x);
        views.push_back(view);
    }
    // A place on the tape, where the gradients of the parts are put together.
    tape_.push_back({views, {}, place_ * kPerPlace + next_++, {stream_.samples, 0, parts}});
    tape_.back().backward.push_back({OpType::concatenate, {}, x, streamed_ns({elements(x), elements(x)}), 0});
    return views;
}

void StepRecorder::loss(TensorId x) {
    const std::uint64_t n = elements(x);
    const TensorId y = result("loss", 1);
    launch(OpType::loss, {x}, {y}, streamed_ns({n, 1}), static_cast<double>(n),
           {{OpType::loss_backward, {x}, x, streamed_ns({n, n}), static_cast<double>(n)}});
    // The gradient of the loss is the constant 1.
    gradient_.resize(stream_.tensors.size(), kNoTensor);
    gradient_[y] = add_tensor("one", 1, TensorKind::input, kGradientKey);
}

void StepRecorder::emit_backward(const Step& step, const Backward& backward) {
    const auto number = static_cast<std::uint64_t>(&backward - step.backward.data());
    const std::uint64_t site = kBackwardSite | (2 * number << 48) | step.site;
    TrainingOperator op = make(backward.type, TrainingPhase::backward, site, backward.ns, backward.flops);
    op.sizes = step.sizes;
    for (const TensorId made : step.results)
        if (gradient_[made] != kNoTensor) op.reads.push_back(gradient_[made]);
    if (op.reads.empty()) return;  // nothing that the loss depends on
    op.reads.insert(op.reads.end(), backward.saved.begin(), backward.saved.end());
    const TensorId target = backward.target;
    const bool weights = stream_.tensors[target].kind == TensorKind::parameter;
    const TensorId sum = gradient_[target];
    if (weights && sum != kNoTensor) {
        op.in_place = {sum};
        stream_.operators.push_back(std::move(op));
        return;
    }
    const auto fresh = [&] {
        const std::uint64_t key = mixed(stream_.tensors[target].key + (contributions_[target]++ << 44));
        const TensorId id = add_tensor(stream_.tensors[target].name + ".gradient", elements(target),
                                       weights ? TensorKind::gradient : TensorKind::activation, key);
        gradient_.push_back(kNoTensor);
        return id;
    };
    TensorId part = kNoTensor;
    if (backward.type == OpType::add) {
        part = op.reads.front();
    } else {
        part = fresh();
        op.writes = {part};
        stream_.operators.push_back(std::move(op));
    }
    gradient_[target] = part;
    if (sum == kNoTensor) return;
    const std::uint64_t n = elements(target);
    TrainingOperator plus = make(OpType::accumulate, TrainingPhase::backward, site | std::uint64_t{1} << 48,
                                 streamed_ns({n, n, n}), static_cast<double>(n));
    plus.sizes = step.sizes;
    plus.reads = {sum, part};
    const TensorId total = fresh();
    gradient_[target] = total;
    plus.writes = {total};
    stream_.operators.push_back(std::move(plus));
}

TrainingStream StepRecorder::finish(std::uint64_t path) {
    gradient_.resize(stream_.tensors.size(), kNoTensor);
    for (std::size_t i = tape_.size(); i-- > 0;)
        for (const Backward& backward : tape_[i].backward) emit_backward(tape_[i], backward);

    std::uint64_t number = 0;
    for (const auto& [name, id] : parameters_) {
        const TensorId gradient = gradient_[id];
        if (gradient == kNoTensor) throw std::logic_error(name + ": a parameter without a gradient");
        const std::uint64_t n = elements(id), key = stream_.tensors[id].key;
        const TensorId mean = add_tensor(name + ".mean", n, TensorKind::optimiser_state, key + 2 * kParameterKey);
        const TensorId variance =
            add_tensor(name + ".variance", n, TensorKind::optimiser_state, key + 4 * kParameterKey);
        TrainingOperator op = make(OpType::adam, TrainingPhase::optimiser, kOptimiserSite + number++,
                                   streamed_ns({n, n, n, n, n, n, n}), 10 * static_cast<double>(n));
        op.sizes = {1, 1, 4};  // flat tensors, of any size
        op.reads = {gradient};
        op.in_place = {id, mean, variance};
        stream_.operators.push_back(std::move(op));
    }
    stream_.path = path;
    finish_lifetimes(stream_, true);
    return std::move(stream_);
}

}  // namespace switchyard::sched
