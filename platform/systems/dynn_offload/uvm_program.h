// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "switchyard/hw/paged_memory/page_table.h"
#include "switchyard/sw_scheduler/memory_managers/memory_program.h"

namespace switchyard::platform::dynn_offload_system {

struct UvmConfig {
    hw::PageTable::Config pages;
    double fault_us = 45;
    double oversubscription = 2;
};

/// Unified virtual memory without prefetch by the program: an operator's operands and results are accessed one after
/// another; while pages come, it waits. Tensors have addresses by best fit, rounded up to 512 bytes, as PyTorch's
/// caching allocator rounds; memory of released tensors stays managed, and moves like any other. Out of memory: more
/// than `oversubscription` times the budget is alive. The step is the second of two of the same path.
memory_managers::MemoryProgram run_uvm(const sched::TrainingStream& stream, std::uint64_t budget_bytes,
                                       const UvmConfig& config);

}  // namespace switchyard::platform::dynn_offload_system
