// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/gpu_roofline/gpu_batch.h"

#include <algorithm>
#include <set>

#include "switchyard/platform/systems/gpu_roofline/gpu_kernels.h"
#include "switchyard/sw_scheduler/adyna/compiler/cost_model.h"
#include "switchyard/sw_scheduler/workload/dataflow.h"

namespace switchyard::platform {

namespace {

using Form = TensorCache::Form;

class Run {
public:
    Run(const sched::DynGraph& graph, const GpuConfig& gpu, const BatchRouting& routing)
        : graph_(graph),
          gpu_(gpu),
          routing_(routing),
          counts_(sample_counts(graph, routing)),
          queue_(gpu),
          cache_(gpu.l2_bytes) {
        result_.operator_us.assign(counts_.size(), 0);
    }

    GpuBatch run() {
        for (op_ = 0; op_ < static_cast<int>(counts_.size()); ++op_) {
            if (counts_[static_cast<std::size_t>(op_)] > 0) operate();
            for (std::size_t s = 0; s < graph_.switches.size(); ++s)
                if (std::max(graph_.switches[s].data, graph_.switches[s].gate) == op_) scatter(static_cast<int>(s));
        }
        result_.us = queue_.end_us();
        result_.operator_launches = queue_.launches() - result_.routing_launches;
        result_.synchronisations = queue_.synchronisations();
        return std::move(result_);
    }

private:
    /// Bytes of a kernel: all of them pass the second-level cache, those that it lacks or that are written also memory.
    struct Traffic {
        double memory_read = 0, memory_written = 0, cache = 0;
    };

    const sched::Operator& at(int op) const { return graph_.operators[static_cast<std::size_t>(op)]; }

    void read(Traffic& traffic, const TensorCache::Tensor& tensor, std::uint64_t bytes) {
        traffic.cache += static_cast<double>(bytes);
        if (!cache_.read(tensor, bytes)) traffic.memory_read += static_cast<double>(bytes);
    }
    void write(Traffic& traffic, const TensorCache::Tensor& tensor, std::uint64_t bytes) {
        traffic.cache += static_cast<double>(bytes);
        traffic.memory_written += static_cast<double>(bytes);
        cache_.write(tensor, bytes);
    }

    double launch(const Traffic& traffic, double arithmetic_us) {
        const double memory = traffic.memory_read + traffic.memory_written;
        const double us = std::max({arithmetic_us, memory / (gpu_.memory_bytes_per_us() * gpu_.memory_efficiency),
                                    traffic.cache / gpu_.l2_bytes_per_us()}) /
                          gpu_.achieved_share;
        queue_.launch(us);
        result_.read_bytes += traffic.memory_read;
        result_.written_bytes += traffic.memory_written;
        return us;
    }
    void launch_operator(const Traffic& traffic, double arithmetic_us) {
        const double us = launch(traffic, arithmetic_us);
        result_.operators_us += us;
        result_.operator_us[static_cast<std::size_t>(op_)] += us;
    }
    void launch_router(const Traffic& traffic) {
        result_.routing_us += launch(traffic, 0);
        ++result_.routing_launches;
    }
    /// A kernel on a few bytes for each sample and path, which stay in the cache.
    void launch_router_on_masks() { launch_router({}); }

    /// An identity of the front-end stands for what it takes.
    static TensorCache::Tensor plain(int producer) { return {producer, sched::kNoSwitch, 0, Form::plain}; }
    TensorCache::Tensor tensor_of(const sched::Source& source) const {
        if (source.switch_id != sched::kNoSwitch)
            return {source.producer, source.switch_id, source.branch, Form::plain};
        return result_of(source.producer);
    }
    TensorCache::Tensor result_of(int op) const {
        if (op <= sched::kModelInput || !is_renaming(at(op))) return plain(op);
        const sched::Source& source = at(op).inputs.front();
        TensorCache::Tensor tensor = tensor_of(source);
        if (source.reduce == EdgeReduce::global_pool) std::get<3>(tensor) = Form::pooled;
        return tensor;
    }

    void operate() {
        Traffic traffic;
        for (const sched::Source& source : at(op_).inputs)
            if (source.reduce == EdgeReduce::global_pool) pool(source);
        if (is_renaming(at(op_))) return;
        if (at(op_).shape.kind == OpKind::merge) {
            gather();
            return;
        }
        const std::uint64_t samples = counts_[static_cast<std::size_t>(op_)];
        for (const sched::Source& source : at(op_).inputs) {
            TensorCache::Tensor tensor = tensor_of(source);
            const bool pooled = source.reduce == EdgeReduce::global_pool;
            if (pooled) std::get<3>(tensor) = Form::pooled;
            read(traffic, tensor,
                 samples * (pooled ? std::uint64_t{kElementBytes} * source.shape.channels : source.shape.bytes()));
        }
        traffic.memory_read += static_cast<double>(at(op_).weight_bytes);
        traffic.cache += static_cast<double>(at(op_).weight_bytes);
        write(traffic, plain(op_), samples * at(op_).out_bytes_per_sample);
        result_.macs += static_cast<double>(samples * at(op_).macs_per_sample);
        launch_operator(traffic, arithmetic_us(samples));
    }

    double arithmetic_us(std::uint64_t samples) const {
        const OperatorShape& shape = at(op_).shape;
        const double flops = 2.0 * static_cast<double>(samples * at(op_).macs_per_sample);
        switch (shape.kind) {
            case OpKind::convolution:
            case OpKind::matmul: {
                const auto loops = sched::reduction_loops(shape, 1);
                return best_tiling(gpu_, {samples * shape.out_rows * shape.out_columns, shape.out_channels,
                                          std::uint64_t{loops[0]} * loops[1] * loops[2]})
                    .us;
            }
            case OpKind::attention:
                return flops / (gpu_.tensor_flops_per_us() * gpu_.tensor_efficiency);
            case OpKind::depthwise:
                return flops / gpu_.vector_flops_per_us();
            default:
                return 0;
        }
    }

    void pool(const sched::Source& source) {
        TensorCache::Tensor pooled = tensor_of(source);
        const TensorCache::Tensor whole = pooled;
        std::get<3>(pooled) = Form::pooled;
        if (!pooled_.insert(pooled).second) return;
        const std::uint64_t samples = source_samples(graph_, source, routing_, counts_);
        Traffic traffic;
        read(traffic, whole, samples * source.shape.bytes());
        write(traffic, pooled, samples * kElementBytes * source.shape.channels);
        launch_operator(traffic, 0);
    }

    /// Scores to mask; positions and loads by a scan; their sum, which the host waits for; zero-fill; dispatch; the
    /// loads, which the host waits for. Sinks get nothing.
    void scatter(int id) {
        const sched::Switch& gateway = graph_.switches[static_cast<std::size_t>(id)];
        if (counts_[static_cast<std::size_t>(gateway.data)] == 0) return;
        const std::uint64_t cell = at(gateway.data).out_bytes_per_sample;
        Traffic zero_fill, dispatch;
        for (unsigned branch = 0; branch < gateway.branches; ++branch) {
            if (std::binary_search(gateway.sinks.begin(), gateway.sinks.end(), branch)) continue;
            const std::uint64_t bytes = sched::samples_on({{id, branch}}, routing_) * cell;
            write(zero_fill, {gateway.data, id, branch, Form::plain}, bytes);
        }
        for (unsigned branch = 0; branch < gateway.branches; ++branch) {
            if (std::binary_search(gateway.sinks.begin(), gateway.sinks.end(), branch)) continue;
            const std::uint64_t bytes = sched::samples_on({{id, branch}}, routing_) * cell;
            read(dispatch, result_of(gateway.data), bytes);
            write(dispatch, {gateway.data, id, branch, Form::plain}, bytes);
        }
        launch_router_on_masks();
        launch_router_on_masks();
        launch_router_on_masks();
        queue_.synchronise();
        launch_router(zero_fill);
        launch_router(dispatch);
        queue_.synchronise();
    }

    /// Tags are concatenated, then cells; zero-fill; the cells are added to their places. Fused steps come afterwards.
    void gather() {
        const std::uint64_t cell = at(op_).out_bytes_per_sample;
        const std::uint64_t result = counts_[static_cast<std::size_t>(op_)] * cell;
        const TensorCache::Tensor gathered{op_, sched::kNoSwitch, 0, Form::gathered};
        Traffic concatenate, zero_fill, scatter_add;
        std::uint64_t bytes = 0;
        for (const sched::Source& source : at(op_).inputs) {
            const std::uint64_t cells = source_samples(graph_, source, routing_, counts_) * cell;
            if (cells == 0) continue;
            TensorCache::Tensor tensor = tensor_of(source);
            if (source.reduce == EdgeReduce::global_pool) std::get<3>(tensor) = Form::pooled;
            read(concatenate, tensor, cells);
            bytes += cells;
        }
        write(concatenate, gathered, bytes);
        write(zero_fill, plain(op_), result);
        read(scatter_add, gathered, bytes);
        write(scatter_add, plain(op_), result);
        launch_router_on_masks();
        launch_router(concatenate);
        launch_router(zero_fill);
        launch_router(scatter_add);
        if (at(op_).fused.empty()) return;
        Traffic fused;
        read(fused, plain(op_), result);
        write(fused, plain(op_), result);
        launch_operator(fused, 0);
    }

    const sched::DynGraph& graph_;
    const GpuConfig& gpu_;
    const BatchRouting& routing_;
    std::vector<std::uint32_t> counts_;
    LaunchQueue queue_;
    TensorCache cache_;
    std::set<TensorCache::Tensor> pooled_;
    int op_ = 0;
    GpuBatch result_;
};

}  // namespace

GpuBatch run_gpu_batch(const sched::DynGraph& graph, const GpuConfig& gpu, const BatchRouting& routing) {
    return Run(graph, gpu, routing).run();
}

}  // namespace switchyard::platform
