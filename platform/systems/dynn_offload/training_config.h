// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "switchyard/platform/gpu/gpu_platform.h"
#include "switchyard/platform/systems/dynn_offload/uvm_program.h"
#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"

namespace switchyard::platform::dynn_offload_system {

struct TrainingConfig {
    std::string impl = "analytic";
    bool functional = false;
    std::string gpu = "../gpus/a100_80gb.yaml";
    double budget_gb = 0, host_gb = 0, link_gb_per_s = 0;
    std::uint64_t seed = 1;
    std::string pilot;
    bool handling = true;
    double pilot_us = 12, mapping_us = 12.5;
    double copy_setup_us = 1;
    std::uint64_t copy_chunk_bytes = 16 << 20;
    std::string partition = "sentinel";
    unsigned blocks = 0;
    double block_share = 0;
    std::string eviction = "unused";
    bool fragmentation = false;
    double wrong_share = 0;
    unsigned gpus = 1;
    std::string topology = "../topologies/two_servers_of_four.yaml";
    double bucket_mb = 25;
    double dtr_max_overhead = 2, dtr_operator_us = 21, dtr_examined_us = 0.9;
    bool all_must_train = false;
    double max_overhead = 0;
    double host_adam_gb_per_s = 120;
    double uvm_fault_us = 45, uvm_oversubscription = 2, uvm_prefetch_threshold = 0.51;
    unsigned uvm_faults_per_batch = 256;
    double device_pj_per_bit = 3.9, link_pj_per_bit = 10;

    UvmConfig uvm() const {
        UvmConfig config;
        config.fault_us = uvm_fault_us;
        config.oversubscription = uvm_oversubscription;
        config.pages.prefetch_threshold = uvm_prefetch_threshold;
        config.pages.faults_per_batch = uvm_faults_per_batch;
        return config;
    }
};

template <class V>
void describe(V& v, TrainingConfig& c) {
    v.choice("impl", c.impl, {"analytic", "tlm"},
             "times of copies: closed form, or messages on the modelled link, in SystemC");
    v.field("functional", c.functional, "tensors have contents (hashes), which are checked against unlimited memory");
    v.field("gpu", c.gpu, "a file of configs/gpus: kernel times, device memory, host link; from the platform file");
    v.field("budget_gb", c.budget_gb, 0, 1e6, "device memory that training may use, 10^9 bytes; 0: all of the GPU's");
    v.field("host_gb", c.host_gb, 0, 1e6,
            "host memory for tensors, 10^9 bytes, designs sentinel-oracle, dynn-offload, zero-offload; 0: no limit");
    v.field("link_gb_per_s", c.link_gb_per_s, 0, 1e5,
            "payload each way in place of host_link's rate (NVLink-C2C: 450); impl analytic; 0: host_link's");
    v.field("seed", c.seed, 0, 1e18, "of the samples");
    v.field("pilot", c.pilot, "a pilot of sy-sched pilot train; design dynn-offload");
    v.field("handling", c.handling, "mispredictions are recorded, and not repeated for the same output of the pilot");
    v.field("pilot_us", c.pilot_us, 0, 1e6, "inference of the pilot, before a step (DyNN-Offload, Table IV: 12)");
    v.field("mapping_us", c.mapping_us, 0, 1e6, "its output to a path (DyNN-Offload, section VI-C: 10 to 15)");
    v.field("copy_setup_us", c.copy_setup_us, 0, 1e6, "of a copy, before its first byte (as copy_engines.setup_ns)");
    v.field("copy_chunk_bytes", c.copy_chunk_bytes, 4096, 1 << 30, "of a message on the link; impl tlm");
    v.choice("partition", c.partition, {"sentinel", "operators", "time", "bytes"}, "rule of the execution blocks");
    v.field("blocks", c.blocks, 0, 100000, "heuristic partitions: number of blocks; 0: as many as sentinel makes");
    v.field("block_share", c.block_share, 0, 1,
            "rule sentinel: share of a half that blocks fill, before boundaries move; 0: the best of twelve shares");
    v.choice("eviction", c.eviction, {"unused", "for_room"},
             "what leaves a half: all that the next block does not need, or no more than that wants room");
    v.field("fragmentation", c.fragmentation,
            "tensors have addresses by best fit, and one for which no gap has room does not fit; uvm has it always");
    v.field("wrong_share", c.wrong_share, 0, 1,
            "share of the steps that are run with the path of another sample as prediction; design sentinel-oracle");
    v.field("gpus", c.gpus, 1, 1024, "data-parallel; each has its own host link and sample");
    v.field("topology", c.topology, "a file of configs/topologies over which gradients are summed; gpus above 1");
    v.field("bucket_mb", c.bucket_mb, 0.1, 1e6, "10^6 bytes of gradients an all-reduce (DistributedDataParallel: 25)");
    v.field("dtr_max_overhead", c.dtr_max_overhead, 0, 1000,
            "DTR gives up beyond this: recomputation over base computation");
    v.field("dtr_operator_us", c.dtr_operator_us, 0, 1e6,
            "DTR's bookkeeping of an operator (uwsampl/dtr-prototype, data-full.json: docs/dynn_offload.md)");
    v.field("dtr_examined_us", c.dtr_examined_us, 0, 1e6, "DTR looks at a tensor that it may drop (the same source)");
    v.field("all_must_train", c.all_must_train, "a step that is out of memory makes the point one that does not fit");
    v.field("max_overhead", c.max_overhead, 0, 1e6,
            "a point whose time is longer by more than this, over unlimited memory, does not fit; 0: no limit");
    v.field("host_adam_gb_per_s", c.host_adam_gb_per_s, 0.1, 1e6,
            "of the host's optimiser, ZeRO-Offload (no source: docs/dynn_offload.md)");
    v.field("uvm_fault_us", c.uvm_fault_us, 0, 1e6, "to serve a batch of page faults (UVMSmart: 45)");
    v.field("uvm_faults_per_batch", c.uvm_faults_per_batch, 1, 65536, "(NVIDIA's driver: 256)");
    v.field("uvm_prefetch_threshold", c.uvm_prefetch_threshold, 0.01, 1,
            "share of a part of a tree beyond which all of it comes (NVIDIA's driver: 51 %)");
    v.field("uvm_oversubscription", c.uvm_oversubscription, 1, 100,
            "managed memory over the budget, at most (DyNN-Offload, section VI-A: 2)");
    v.field("device_pj_per_bit", c.device_pj_per_bit, 0, 1e4, "a bit of a copy read or written in device memory");
    v.field("link_pj_per_bit", c.link_pj_per_bit, 0, 1e4,
            "a bit over the host link (MCM-GPU, ISCA 2017, Table 2: links of a board)");
}

/// A platform file with `system: dynn_offload`, a section `training` and the GPU that it names.
struct TrainingPlatform {
    TrainingConfig training;
    GpuPlatform gpu;
    std::map<std::string, std::string> network;  ///< overrides of the network file: "network.batch" as "training.batch"

    std::uint64_t budget_bytes() const;
    memory_managers::TransferTimes transfer_times() const;
};

/// Overrides: "training.KEY", "SECTION.KEY" of the GPU ("host_link.generation"), "network.KEY". Throws InputError.
TrainingPlatform read_training_platform(const std::string& path, const std::map<std::string, std::string>& overrides);
std::vector<KeyDescription> training_keys();

}  // namespace switchyard::platform::dynn_offload_system
