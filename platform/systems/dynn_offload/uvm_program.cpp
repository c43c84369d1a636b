// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/dynn_offload/uvm_program.h"

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/memory_managers/best_fit.h"

namespace switchyard::platform::dynn_offload_system {

using namespace memory_managers;

namespace {

class Uvm {
public:
    Uvm(const sched::TrainingStream& stream, std::uint64_t budget, const UvmConfig& config)
        : stream_(stream),
          config_(config),
          managed_(static_cast<std::uint64_t>(static_cast<double>(budget) * config.oversubscription)),
          addresses_(managed_),
          pages_(pages_of(config, budget), managed_),
          address_(stream.tensors.size(), kNone) {}

    MemoryProgram run() {
        for (sched::TensorId id = 0; id < stream_.tensors.size(); ++id) {
            const sched::TrainingTensor& tensor = stream_.tensors[id];
            if (tensor.is_view() || tensor.producer != sched::kNoOperator) continue;
            if (!allocate(id, 0)) return std::move(program_);
            pages_.host_writes(address_[id], tensor.bytes);
        }
        for (unsigned step = 0; step < 2; ++step) {
            program_.actions.clear();
            program_.page_faults = program_.fault_batches = program_.evictions = 0;
            if (!run_step(step == 0)) return std::move(program_);
        }
        program_.peak_bytes = pages_.max_resident_bytes();
        program_.host_bytes = managed_peak_;
        return std::move(program_);
    }

private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    static hw::PageTable::Config pages_of(const UvmConfig& config, std::uint64_t budget) {
        hw::PageTable::Config pages = config.pages;
        pages.device_bytes = budget;
        return pages;
    }

    bool allocate(sched::TensorId id, std::uint32_t op) {
        address_[id] = addresses_.allocate(stream_.tensors[id].bytes).value_or(kNone);
        managed_peak_ = std::max(managed_peak_, addresses_.used_bytes());
        if (address_[id] != kNone) return true;
        program_.out_of_memory =
            fmt::format("operator {}: {:.1f} MB more do not fit {:.1f} MB of managed memory{}", op,
                        static_cast<double>(stream_.tensors[id].bytes) * 1e-6, static_cast<double>(managed_) * 1e-6,
                        addresses_.fragmented_failures() > 0 ? ", which is fragmented" : "");
        return false;
    }

    void access(sched::TensorId tensor, bool write) {
        const sched::TensorId id = stream_.storage_of(tensor);
        if (stream_.tensors[id].bytes == 0) return;
        moved_ += pages_.access(address_[id], stream_.tensors[id].bytes, write);
    }

    void copies(ActionKind kind, std::uint32_t op, std::uint64_t bytes, std::uint64_t transfers) {
        if (bytes == 0) return;
        Action action;
        action.kind = kind;
        action.op = op;
        action.bytes = bytes;
        action.transfers = static_cast<std::uint32_t>(transfers);
        action.on_demand = true;
        program_.actions.push_back(action);
    }

    bool run_step(bool first) {
        for (std::uint32_t i = 0; i < stream_.operators.size(); ++i) {
            const sched::TrainingOperator& op = stream_.operators[i];
            moved_ = {};
            for (const sched::TensorId tensor : op.reads) access(tensor, false);
            for (const sched::TensorId tensor : op.in_place) access(tensor, true);
            for (const sched::TensorId tensor : op.writes) {
                const sched::TensorId id = stream_.storage_of(tensor);
                if (stream_.tensors[id].producer == i && address_[id] == kNone && !allocate(id, i)) return false;
                if (!stream_.tensors[tensor].is_view()) access(tensor, true);
            }
            if (op.workspace_bytes > 0) {
                const auto workspace = addresses_.allocate(op.workspace_bytes);
                if (workspace) {
                    moved_ += pages_.access(*workspace, op.workspace_bytes, true);
                    addresses_.release(*workspace);
                }
            }
            if (moved_.batches > 0) {
                Action fault;
                fault.kind = ActionKind::fault;
                fault.op = i;
                fault.ns = static_cast<double>(moved_.batches) * config_.fault_us * 1e3;
                program_.actions.push_back(fault);
            }
            copies(ActionKind::write_back, i, moved_.to_host_bytes, moved_.to_host_transfers);
            copies(ActionKind::fetch, i, moved_.to_device_bytes, moved_.to_device_transfers);
            program_.page_faults += moved_.faults;
            program_.fault_batches += moved_.batches;
            program_.evictions += moved_.evicted_trees;
            Action compute;
            compute.op = i;
            compute.ns = op.ns;
            program_.actions.push_back(compute);
            for (const sched::TensorId id : op.released) {
                // What is there from the start comes again with the next step.
                if (stream_.tensors[id].is_view() || stream_.tensors[id].producer == sched::kNoOperator) continue;
                addresses_.release(address_[id]);
                address_[id] = kNone;
            }
        }
        for (sched::TensorId id = 0; first && id < stream_.tensors.size(); ++id) {
            const sched::TrainingTensor& tensor = stream_.tensors[id];
            if (tensor.is_view() || address_[id] == kNone) continue;
            if (tensor.kind == sched::TensorKind::input && tensor.bytes > 0)
                pages_.host_writes(address_[id], tensor.bytes);
            if (tensor.producer == sched::kNoOperator) continue;
            addresses_.release(address_[id]);
            address_[id] = kNone;
        }
        return true;
    }

    const sched::TrainingStream& stream_;
    UvmConfig config_;
    std::uint64_t managed_, managed_peak_ = 0;
    BestFit addresses_;
    hw::PageTable pages_;
    std::vector<std::uint64_t> address_;
    hw::PageTable::Migration moved_;
    MemoryProgram program_;
};

}  // namespace

MemoryProgram run_uvm(const sched::TrainingStream& stream, std::uint64_t budget, const UvmConfig& config) {
    if (budget < 2 * std::uint64_t{config.pages.tree_bytes}) {
        MemoryProgram program;
        program.out_of_memory = "a budget of less than two trees of pages";
        return program;
    }
    return Uvm(stream, budget, config).run();
}

}  // namespace switchyard::platform::dynn_offload_system
