// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/validated_domain.h"

#include <algorithm>

namespace switchyard::platform {

std::vector<DomainFigure> domain_figures(const PlatformConfig& platform, const RunResult& result) {
    const Counters run = result.after_run.since(result.before_run);
    const Counters pipelines = run.of("pipelines");
    const double kernels = pipelines.sum("kernel_cycles"), flights = pipelines.sum("flight_cycles");
    const double waits = pipelines.sum("wait_cycles");
    const double all = std::max(1.0, kernels + flights + waits + pipelines.sum("transfer_cycles"));
    const SimulatedHost::Result& host = result.host;
    const double cycles = platform.cycles((host.batches.back().interrupt - host.batches.front().doorbell) /
                                          sc_core::sc_time(1, sc_core::SC_NS));
    // The first batch's inputs come before the run, the last one's outputs go after it.
    const auto batches = static_cast<double>(host.batches.size());
    const double dma_bytes = static_cast<double>(host.input_bytes + host.mask_bytes + host.output_bytes);
    const double dma_cycles =
        dma_bytes * (batches - 1) / batches / (platform.hbm.interfaces() * platform.hbm.peak_bytes_per_cycle());
    double busy = 0;
    for (const SimulatedHost::Batch& batch : host.batches)
        busy += platform.cycles((batch.interrupt - batch.doorbell) / sc_core::sc_time(1, sc_core::SC_NS));
    return {{"flights and latencies, share of the units' time", 0.1, flights / all},
            {"waits for links and memory, share of the units' time", 0.35, waits / all},
            {"the host's DMA, share of the memory's time", 0.1, dma_cycles / cycles},
            {"the first units' data from and to memory, share of the batches' time", 0.05,
             pipelines.sum("skew_cycles") / busy}};
}

}  // namespace switchyard::platform
