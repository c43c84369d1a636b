// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/ace/full_graph_source.h"

#include <fmt/format.h>

#include "switchyard/hw/gpu/kernel_launch.h"

namespace switchyard::platform::ace {

FullGraphSource::FullGraphSource(const sc_core::sc_module_name& module_name)
    : sc_module(module_name), kernels("kernels"), completed("completed") {
    completed.register_b_transport(this, &FullGraphSource::take_completion);
    for (unsigned i = 0; i < kDispatchers; ++i) sc_core::sc_spawn([this] { dispatch(); });
}

void FullGraphSource::run(const std::vector<std::vector<std::uint64_t>>& graph,
                          std::vector<hw::GpuPacketBytes> packets) {
    packets_ = std::move(packets);
    waits_.assign(graph.size(), 0);
    after_.assign(graph.size(), {});
    unfinished_ = graph.size();
    for (std::size_t k = 0; k < graph.size(); ++k) {
        waits_[k] = graph[k].size();
        for (const std::uint64_t from : graph[k]) after_[from].push_back(k);
        if (graph[k].empty()) ready_.push_back(k);
    }
    work_.notify(sc_core::SC_ZERO_TIME);
    while (unfinished_ > 0) wait(done_);
}

void FullGraphSource::dispatch() {
    for (;;) {
        while (ready_.empty()) wait(work_);
        const std::size_t kernel = ready_.front();
        ready_.pop_front();
        if (!ready_.empty()) work_.notify(sc_core::SC_ZERO_TIME);
        hw::GpuPacketBytes bytes = packets_.at(kernel);
        ::tlm::tlm_generic_payload payload;
        hw::set_access(payload, true, kernel, bytes.data(), hw::kGpuPacketBytes);
        sc_core::sc_time delay;
        kernels->b_transport(payload, delay);
        wait(delay);
        if (payload.is_response_error())
            throw ModelError(*this, fmt::format("expected the GPU to take kernel {} of the stream, found {}", kernel,
                                                payload.get_response_string()));
    }
}

void FullGraphSource::take_completion(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const std::size_t kernel = payload.get_address();
    if (kernel >= waits_.size()) return payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
    for (const std::size_t later : after_[kernel])
        if (--waits_[later] == 0) ready_.push_back(later);
    work_.notify(sc_core::SC_ZERO_TIME);
    if (--unfinished_ == 0) done_.notify(sc_core::SC_ZERO_TIME);
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

}  // namespace switchyard::platform::ace
