// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/hw/dispatcher/dispatcher.h"
#include "switchyard/hw/host/host_interface.h"
#include "switchyard/hw/memory/hbm.h"
#include "switchyard/hw/network_interface/network_interface.h"
#include "switchyard/hw/noc/endpoint_map.h"
#include "switchyard/hw/noc/network.h"
#include "switchyard/hw/pe_array/pe_array.h"
#include "switchyard/hw/scratchpad/scratchpad.h"
#include "switchyard/hw/tile/tile_controller.h"
#include "switchyard/platform/chip/host_memory.h"
#include "switchyard/platform/chip/tile_overrides.h"
#include "switchyard/platform/system/energy.h"
#include "switchyard/sw_scheduler/adyna/compiler/hardware.h"
#include "switchyard/sw_scheduler/base/config.h"

namespace switchyard::platform {

/// Endpoints of a chip's network.
struct ChipEndpoints {
    hw::EndpointMap map;
    std::vector<Endpoint> memory;  ///< by interface
    Endpoint host = 0;
};

struct ChipConfig {
    std::string name = "chip";
    std::string impl = "tiles";
    unsigned columns = 2, rows = 2;
    double clock_ghz = 1.0;
    bool check_protocol = false;
    bool functional = false;
    bool ideal_kernel_store = false;
    bool kernel_fitting = true;
    double online_scheduling_us = 0;
};

template <class V>
void describe(V& v, ChipConfig& c) {
    v.field("name", c.name, "name of the platform, in messages and reports");
    v.choice(
        "impl", c.impl, {"tiles", "stages", "auto"},
        "every tile, router and memory interface a module; or the pipelines as a whole, much faster; or the latter "
        "where they are validated for the run (docs/models/stages.md), and the former elsewhere");
    v.field("columns", c.columns, 1, 64, "tiles in a row of the torus");
    v.field("rows", c.rows, 1, 64, "rows of tiles");
    v.field("clock_ghz", c.clock_ghz, 0.01, 10, "clock of the whole chip; every key in cycles counts these");
    v.field("functional", c.functional,
            "tensors have values, which PE arrays and gates compute; no: timing only, tensors are sizes");
    v.renamed("values", "functional");
    v.field("ideal_kernel_store", c.ideal_kernel_store,
            "kernels take no room in the scratchpads, so that a tile can have any number; needs impl: stages");
    v.field("kernel_fitting", c.kernel_fitting,
            "dispatchers skip the blocks of a kernel that the real dyn_dim does not need; otherwise these cost their "
            "time and scratchpad accesses; no needs impl: stages");
    v.field(
        "online_scheduling_us", c.online_scheduling_us, 0, 1e6,
        "a scheduler on the host that looks for the kernel of each dynamic operator of a batch when its first input "
        "has arrived, one operator after another; needs impl: stages");
    v.field("check_protocol", c.check_protocol, "put a TLM-2.0 base-protocol checker on every link inside the chip");
}

/// A whole platform as its YAML file and the overrides describe it: one section a component. What a component's Config
/// holds beside its keys (clock, sizes of the chip) is derived, so that it is said in one place only.
struct PlatformConfig {
    ChipConfig chip;
    hw::PeArray::Config pe_array;
    hw::Scratchpad::Config scratchpad;
    hw::KernelDispatcher::Config dispatcher;
    hw::TileController::Config controller;
    hw::NetworkInterface::Config network_interface;
    hw::NocConfig noc;
    hw::Hbm::Config hbm;
    hw::HostInterface::Config host;
    TileOverrides pe_array_overrides, dispatcher_overrides, network_interface_overrides,
        noc_overrides;               ///< keys in their sections
    HostMemory::Config host_memory;  ///< keys in the section `host`
    EnergyConfig energy;

    /// read_platform().
    static PlatformConfig from_yaml_file(const std::string& path, std::map<std::string, std::string> overrides = {});

    unsigned tiles() const { return chip.columns * chip.rows; }
    /// Peak multiply-accumulates a cycle.
    double pes() const { return static_cast<double>(tiles()) * pe_array.rows * pe_array.columns; }
    double cycles(double nanoseconds) const { return nanoseconds * chip.clock_ghz; }

    /// Attaches what the chip has to the routers of its network: a tile to its own, the host interface to router 0, and
    /// memory interfaces in turn to the left and the right edge, those of one edge spread evenly over its rows. Tiles
    /// come first: a tile's number, by which an image names it, is its endpoint.
    ChipEndpoints endpoints() const;
};

/// Reads a platform file; `overrides` ("noc.link_bytes_per_cycle" -> "96") win over it. Every section must be there.
/// Throws InputError "file:line: section.key: ..." for an unknown section or key, a missing section, a value of the
/// wrong type or out of range, sizes that contradict each other, and an override of a key that does not exist.
PlatformConfig read_platform(const std::string& path, std::map<std::string, std::string> overrides = {});

/// What the scheduler must know of the platform; its fingerprint() ties images to it.
sched::HardwareDescription make_hardware_description(const PlatformConfig& platform);

/// Every key with its type, default, range and meaning, as the components describe them.
std::vector<KeyDescription> platform_keys();
/// docs/platform_keys.md.
std::string platform_keys_markdown();
/// docs/registers.md.
std::string register_map_markdown();

}  // namespace switchyard::platform
