// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/simulation.h"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <boost/crc.hpp>
#include <systemc>

#include "switchyard/platform/system/no_progress.h"
#include "switchyard/platform/systems/adyna/chip_model.h"
#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

namespace {

std::map<std::string, std::uint32_t> tensors_in_memory(ChipModel& chip, const PlatformConfig& platform,
                                                       const Image& image, std::size_t batches) {
    std::map<std::string, std::uint32_t> checksums;
    const auto add = [&](const OperatorPlacement& tensor) {
        const Partition& cut = tensor.partitions.front();
        boost::crc_32_type crc;
        for (std::uint32_t piece = 0; piece < std::uint32_t{cut.n} * cut.p; ++piece) {
            std::vector<std::uint8_t> bytes(piece_bytes(tensor, piece));
            chip.read_memory(
                tensor.store.address(piece, static_cast<std::uint32_t>(batches - 1), platform.hbm.region_bytes),
                bytes.data(), static_cast<unsigned>(bytes.size()));
            crc.process_bytes(bytes.data(), bytes.size());
        }
        checksums[image.meta.operators[tensor.op_id].name] = crc.checksum();
    };
    for (const TileProgram& tile : image.tiles) {
        for (const OperatorPlacement& placement : tile.placements) {
            if (placement.in_memory() && checksums.count(image.meta.operators[placement.op_id].name) == 0)
                add(placement);
        }
    }
    return checksums;
}

}  // namespace

Image decode_image_for(const PlatformConfig& platform, const std::vector<std::uint8_t>& image_bytes,
                       const std::string& source) {
    if (image_bytes.size() > platform.host.image_window_bytes)
        throw InputError(source, 0, "",
                         fmt::format("has {} bytes, the image window of platform {} {} (host.image_window_bytes)",
                                     image_bytes.size(), platform.chip.name, platform.host.image_window_bytes));
    Image image = decode_image(image_bytes, source);
    if (image.platform_fingerprint != make_hardware_description(platform).fingerprint())
        throw InputError(source, 0, "platform_fingerprint",
                         fmt::format("the image was made for platform {}, this platform is {} with other sizes",
                                     image.meta.platform, platform.chip.name));
    return image;
}

RunResult run_simulation(const PlatformConfig& platform, const Image& image, std::vector<std::uint8_t> image_bytes,
                         const std::vector<BatchRouting>& routing, const RunOptions& options) {
    if (platform.chip.impl == "auto") throw std::logic_error("chip.impl: auto has not been decided");
    const auto started = std::chrono::steady_clock::now();
    sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);

    RunResult result;
    SimulationRegistry registry;
    SimulatedHost::Job job;
    job.image = &image;
    job.image_bytes = std::move(image_bytes);
    job.routing = &routing;
    job.tiles = platform.tiles();
    job.values = options.values;
    job.profile_interval = options.profile_interval;
    job.reschedule_interval = options.reschedule_interval;
    job.reschedule = options.reschedule;
    job.run_begins = [&] { result.before_run = Counters(registry); };
    job.run_ends = [&] { result.after_run = Counters(registry); };

    const std::unique_ptr<ChipModel> chip = make_chip("chip", platform, registry);
    hw::HostInterface& interface = chip->host();
    SimulatedHost host("host", platform.host_memory, std::move(job));
    sc_core::sc_signal<bool> irq("irq");
    host.config.bind(interface.config);
    interface.host_memory.bind(host.memory.port);
    interface.irq(irq);
    host.irq(irq);

    sc_core::sc_start();
    if (!host.result().finished) throw no_progress(registry);
    chip->finish_logs();
    result.host = host.result();
    result.at_end = Counters(registry);
    if (options.values) result.tensors = tensors_in_memory(*chip, platform, image, routing.size());
    result.end_ns = sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
    result.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return result;
}

}  // namespace switchyard::platform
