// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/accepted_image.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "switchyard/hw/dispatcher/kernel_nest.h"
#include "switchyard/platform/systems/adyna/image_addresses.h"
#include "switchyard/platform/systems/adyna/network_values.h"
#include "switchyard/platform/systems/adyna/stages/program_map.h"
#include "switchyard/sw_scheduler/adyna/image/kernel_store.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::platform {

namespace {

void check_window(const PlatformConfig& platform, std::size_t image_bytes, const std::string& source) {
    if (image_bytes > platform.host.image_window_bytes)
        throw Infeasible(source, 0, "",
                         fmt::format("expected an image of at most the {} bytes of {}'s image window, found {}; raise "
                                     "host.image_window_bytes",
                                     platform.host.image_window_bytes, platform.chip.name, image_bytes));
}

void check_kernel_store(const PlatformConfig& platform, const Image& image, const std::string& source) {
    if (platform.chip.ideal_kernel_store) return;
    const std::uint64_t room =
        kernel_store_bytes(platform.scratchpad.kernel_share, platform.scratchpad.capacity_bytes) / kKernelBytes;
    for (const TileProgram& program : image.tiles) {
        if (program.kernels.size() <= room) continue;
        throw Infeasible(
            source, 0, "",
            fmt::format("expected at most {} kernels a tile in the scratchpad of {}, found {} on tile {}; raise "
                        "scratchpad.kernel_share, or set chip.ideal_kernel_store: yes",
                        room, platform.chip.name, program.kernels.size(), program.tile));
    }
}

void check_tiles(const PlatformConfig& platform, const Image& image, const std::string& source) {
    if (image.tiles.size() > platform.tiles())
        throw InputError(source, 0, "",
                         fmt::format("expected programs for at most {} tiles of platform {}, found {}",
                                     platform.tiles(), platform.chip.name, image.tiles.size()));
}

/// What a dispatcher finds out when it runs a kernel: whether it is of the template, and covers the rank's share.
void check_nests(const Image& image, const std::string& source) {
    for (const TileProgram& program : image.tiles) {
        for (const TileOperator& op : program.operators) {
            for (std::size_t i = op.kernel_first; i < std::size_t{op.kernel_first} + op.kernel_count; ++i) {
                const Kernel& kernel = program.kernels[i];
                try {
                    const hw::KernelNest nest(kernel, op.rank, kernel.unit_samples());
                } catch (const std::domain_error& error) {
                    const std::string key = fmt::format("tile {}: kernel {}", program.tile, i);
                    throw InputError(source, 0, key, error.what());
                }
            }
        }
    }
}

/// That the edges of all tiles make one network. The map of it throws what does not fit.
void check_network(const Image& image, const std::string& source) {
    std::vector<const TileProgram*> programs;
    for (const TileProgram& program : image.tiles)
        if (!program.operators.empty()) programs.push_back(&program);
    try {
        const ProgramMap map(programs);
    } catch (const InputError& error) {
        throw InputError(source, 0, "", error.what());
    }
}

}  // namespace

void check_image_fits(const PlatformConfig& platform, const Image& image, std::size_t image_bytes,
                      const std::string& source) {
    check_window(platform, image_bytes, source);
    check_kernel_store(platform, image, source);
    if (platform.chip.functional) check_functional(image, source);
}

Image decode_image_for(const PlatformConfig& platform, const std::vector<std::uint8_t>& image_bytes,
                       const std::string& source) {
    check_window(platform, image_bytes.size(), source);
    Image image = decode_image(image_bytes, source);
    const std::uint64_t fingerprint = make_hardware_description(platform).fingerprint();
    if (image.platform_fingerprint != fingerprint)
        throw InputError(
            source, 0, "platform_fingerprint",
            fmt::format("expected {:#x} of platform {}, found {:#x} of platform {}, which has other sizes; "
                        "compile the model for this platform",
                        fingerprint, platform.chip.name, image.platform_fingerprint, image.meta.platform));
    check_tiles(platform, image, source);
    check_addresses(image, {platform.hbm.interfaces(), platform.hbm.region_bytes}, source);
    check_nests(image, source);
    check_network(image, source);
    check_image_fits(platform, image, image_bytes.size(), source);
    return image;
}

}  // namespace switchyard::platform
