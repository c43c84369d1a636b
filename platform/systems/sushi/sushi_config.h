// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "switchyard/hw/dot_product_array/dot_product_array.h"
#include "switchyard/hw/host/command_port.h"
#include "switchyard/hw/layer_controller/layer_cost.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/sushi/serving.h"
#include "switchyard/sw_scheduler/sushi/supernet.h"
#include "switchyard/sw_scheduler/workload/query_stream.h"

namespace switchyard::platform::sushi {

/// On-chip storage in KiB (SUSHI, Table 3, whose KB are 1024 bytes: URAM and BRAM come in powers of two).
struct BufferConfig {
    double persistent_kib = 1728;
    double dynamic_kib = 576;  ///< one of the two halves
    double streaming_kib = 584;
    double line_kib = 54;
    double output_kib = 327;
    double parameters_kib = 8;

    sched::TileBuffers bytes() const;
    double total_kib() const {
        return persistent_kib + 2 * dynamic_kib + streaming_kib + line_kib + output_kib + parameters_kib;
    }
};

template <class V>
void describe(V& v, BufferConfig& c) {
    v.field("persistent_kib", c.persistent_kib, 0, 1e6, "persistent buffer");
    v.field("dynamic_kib", c.dynamic_kib, 1, 1e6, "each half of the dynamic buffer");
    v.field("streaming_kib", c.streaming_kib, 1, 1e6, "streaming buffer, of input activations");
    v.field("line_kib", c.line_kib, 0.1, 1e6, "line buffer");
    v.field("output_kib", c.output_kib, 1, 1e6, "output buffer, of accumulators, both banks");
    v.field("parameters_kib", c.parameters_kib, 0.1, 1e6, "buffer of zero points and scales");
}

struct AcceleratorConfig {
    std::string impl = "analytic";
    bool functional = false;
    double clock_ghz = 0.1;
    unsigned request_bytes = 2048;
    bool hides_weights = true;
    bool array_at_peak = false;
    bool activations_on_chip = false;
};

template <class V>
void describe(V& v, AcceleratorConfig& c) {
    v.choice("impl", c.impl, {"analytic", "cycle"},
             "closed form of a layer, or fetching, computing and writing side by side on the DRAM's model");
    v.field("functional", c.functional, "activations have values; the network's file has weights");
    v.field("clock_ghz", c.clock_ghz, 0.001, 10, "of array and buffers");
    v.field("hides_weights", c.hides_weights,
            "weights of the next tile come while the array computes (SUSHI, section 4.3.2); no: when it is done");
    v.field("array_at_peak", c.array_at_peak,
            "the array does its peak operations in every cycle, whatever the layer's shape; impl analytic");
    v.field("activations_on_chip", c.activations_on_chip,
            "inputs and results of layers take neither time nor traffic off the chip; impl analytic");
    v.field("request_bytes", c.request_bytes, 64, 1 << 20, "the largest request to DRAM; impl cycle");
}

struct DramConfig {
    std::string device = "ddr4_2400";
    double bandwidth_scale = 1;
    unsigned outstanding = 32;
    bool check_timing = false;
    double pj_per_bit = 20;
};

template <class V>
void describe(V& v, DramConfig& c) {
    v.field("device", c.device, "a device of configs/devices by its name, or the path of a file");
    v.field("bandwidth_scale", c.bandwidth_scale, 0.01, 100, "of the device's clock: its times in cycles stay");
    v.field("outstanding", c.outstanding, 1, 4096, "requests that the memory holds; impl cycle");
    v.field("check_timing", c.check_timing, "check every command against the device's timing; slow; impl cycle");
    v.field("pj_per_bit", c.pj_per_bit, 0, 1e4,
            "one bit read or written (Horowitz, ISSCC 2014: 1.3 to 2.6 nJ for 64 bits, the lower end)");
}

struct HostConfig {
    double register_us = 0.15;
    double decision_us = 2;
};

template <class V>
void describe(V& v, HostConfig& c) {
    v.field("register_us", c.register_us, 0, 1e3, "an access to a register of the accelerator (declared)");
    v.field("decision_us", c.decision_us, 0, 1e6,
            "looking up a query's SubNet, each time (SUSHI, Table 6: 2 us for a table of 100 columns)");
}

struct SchedulerConfig {
    std::string constraint = "accuracy";
    unsigned period = 8;
    unsigned subgraphs = 100;
    std::string table;
    std::string subgraph_file;
    unsigned only_subnet = 0;

    sched::sushi::Constraint chosen_constraint() const {
        if (constraint == "latency") return sched::sushi::Constraint::latency;
        return constraint == "accuracy" ? sched::sushi::Constraint::accuracy : sched::sushi::Constraint::accuracy_alone;
    }
};

template <class V>
void describe(V& v, SchedulerConfig& c) {
    v.choice(
        "constraint", c.constraint, {"accuracy", "latency", "accuracy_alone"},
        "which constraint of a query holds (SUSHI, Algorithm 1); accuracy_alone: accuracy, and of the SubNets that "
        "meet it the least accurate is served, for which no latency has to be known");
    v.field("period", c.period, 1, 1 << 20, "Q: queries between two choices of a SubGraph, and averaged over");
    v.field("subgraphs", c.subgraphs, 1, 100000, "columns of the latency table: candidate SubGraphs");
    v.field("table", c.table, "a latency table that sushi-table has written; empty: filled with the closed form");
    v.field("subgraph_file", c.subgraph_file, "SubGraphs to choose from; empty: candidates from the SubNets");
    v.field("only_subnet", c.only_subnet, 0, 10000, "serves this SubNet alone, from 1 on; 0: chooses");
}

/// Xilinx DPUCZDX8G: parallelism in pixels, input channels and output channels (PG338 4.1, "Architecture of the
/// DPUCZDX8G": B4096 is 8 x 16 x 16), ALU for depthwise kernels and elementwise sums ("DepthwiseConv (ALU)"), two data
/// ports of 128 bits ("Port Descriptions"), 8 banks of 2048 words of 16 channels (UG1414 3.0, "Currently Supported
/// Operators").
struct DpuConfig {
    unsigned pixels = 8, input_channels = 16, output_channels = 16;
    unsigned alu_pixels = 4;
    double clock_ghz = 0.3;
    double gb_per_s = 19.2;
    double port_bytes = 32;
    double bank_kib = 256;
    bool overlaps = true;

    /// The slower of its ports and of memory.
    double bytes_per_ns() const { return gb_per_s < port_bytes * clock_ghz ? gb_per_s : port_bytes * clock_ghz; }
};

template <class V>
void describe(V& v, DpuConfig& c) {
    v.field("pixels", c.pixels, 1, 1024, "output pixels of a row at a time");
    v.field("input_channels", c.input_channels, 1, 1024, "input channels at a time");
    v.field("output_channels", c.output_channels, 1, 1024, "output channels at a time");
    v.field("alu_pixels", c.alu_pixels, 1, 1024,
            "pixels at a time of a depthwise kernel or an elementwise sum, with input_channels channels (PG338, "
            "DepthwiseConv (ALU): half of the pixels is recommended)");
    v.field("clock_ghz", c.clock_ghz, 0.001, 10, "of the DPU (Vitis AI 2.5 model zoo: 300 MHz on ZCU104 and KV260)");
    v.field("gb_per_s", c.gb_per_s, 0.001, 1e6, "of memory; ZCU104: DDR4-2400, 64 bits");
    v.field("port_bytes", c.port_bytes, 1, 4096,
            "bytes a cycle of the data ports (PG338, Port Descriptions: two of 128 bits)");
    v.field("bank_kib", c.bank_kib, 1, 1e6,
            "a feature map that fits stays on the chip (UG1414: 8 banks of 2048 words of 16 bytes)");
    v.field("overlaps", c.overlaps,
            "loading, convolution, ALU and saving of a layer run side by side but for the first tile; no: one after "
            "the other");
}

/// Intel Core i7-10750H: 6 cores, 2.6 GHz base, two 256-bit AVX2 units a core, 12 MB of cache, 45.8 GB/s (Intel ARK).
struct CpuConfig {
    double gigamacs_per_s = 499.2;
    double gb_per_s = 45.8;
    double cache_kib = 12288;
};

template <class V>
void describe(V& v, CpuConfig& c) {
    v.field("gigamacs_per_s", c.gigamacs_per_s, 0.001, 1e9,
            "int8 multiply-accumulates (6 cores x 2.6 GHz x 32 a cycle: vpmaddubsw and vpmaddwd on two 256-bit units)");
    v.field("gb_per_s", c.gb_per_s, 0.001, 1e6, "of memory (Intel ARK, i7-10750H: 45.8)");
    v.field("cache_kib", c.cache_kib, 1, 1e9,
            "last-level cache (Intel ARK, i7-10750H: 12 MB); inputs and outputs of a layer that do not fit go through "
            "memory");
}

/// A platform file with `system: sushi`.
struct SushiConfig {
    AcceleratorConfig accelerator;
    hw::DotProductArray::Config array;
    BufferConfig buffers, buffers_without_pb;
    DramConfig dram;
    hw::CommandPort::Config commands;
    HostConfig host;
    sched::QueryStreamConfig queries;
    SchedulerConfig scheduler;
    DpuConfig dpu;
    CpuConfig cpu;

    SushiConfig();
    /// What the closed form knows of the device. Throws InputError for a device that cannot be had.
    hw::DramRate dram_rate() const;
    hw::AcceleratorShape shape(const BufferConfig& used) const {
        return {array.shape(),
                used.bytes(),
                dram_rate(),
                {accelerator.hides_weights, accelerator.array_at_peak, accelerator.activations_on_chip}};
    }
    /// The device with its clock scaled, as DramTarget takes it.
    std::map<std::string, std::string> dram_settings() const;
    /// One line with everything that the latency of a SubNet depends on, contents of files included.
    std::string fingerprint(const sched::sushi::Supernet& supernet, const BufferConfig& used) const;
};

/// An empty `path`: the defaults (ZCU104). Overrides "section.key" win. Throws InputError, also for an override of no
/// key.
SushiConfig read_sushi_config(const std::string& path, std::map<std::string, std::string> overrides);

std::vector<KeyDescription> sushi_keys();

}  // namespace switchyard::platform::sushi
