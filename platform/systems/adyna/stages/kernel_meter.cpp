// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/stages/kernel_meter.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "switchyard/platform/chip/blocks.h"

namespace switchyard::platform {

KernelMeter::KernelMeter(const sc_core::sc_module_name& name, const PlatformConfig& platform)
    : sc_module(name),
      clock_(platform.chip.clock_ghz),
      fitting_(platform.chip.kernel_fitting),
      dispatcher_(blocks::make_kernel_dispatcher("dispatcher", platform.dispatcher, registry_)),
      pe_array_(blocks::make_pe_array("pe_array", platform.pe_array, registry_)),
      scratchpad_("scratchpad", platform.scratchpad, registry_),
      dispatch_("dispatch"),
      configure_("configure"),
      store_("store"),
      idle_("idle"),
      output_("output") {
    dispatch_.bind(dispatcher_->dispatch);
    configure_.bind(dispatcher_->configure);
    store_.bind(scratchpad_.controller);
    dispatcher_->scratchpad.bind(scratchpad_.dispatcher);
    dispatcher_->pe_array.bind(pe_array_->command);
    dispatcher_->network_interface.bind(output_);
    pe_array_->scratchpad.bind(scratchpad_.pe_array);
    output_.register_b_transport(this, &KernelMeter::take_output);
    idle_.bind(scratchpad_.network_interface);
}

void KernelMeter::take_output(::tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
}

const StageWork& KernelMeter::work(const Stage& stage, std::uint32_t dyn_dim, unsigned allocation,
                                   const UnitOfBatch& of_batch) {
    const auto key = std::make_tuple(&stage, dyn_dim, allocation, of_batch.samples, of_batch.later);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_.emplace(key, measure(stage, dyn_dim, {allocation, of_batch})).first->second;
}

StageWork KernelMeter::measure(const Stage& stage, std::uint32_t dyn_dim, const Invocation& invocation) {
    const OperatorPlacement& placement = *stage.placement;
    const int fit = placement.best_fit(invocation.allocation, invocation.samples(dyn_dim));
    if (fit < 0)
        throw ModelError(*this, fmt::format("operator {}: expected a kernel for dyn_dim {}, found none",
                                            placement.op_id, invocation.samples(dyn_dim)));
    const Partition partition = placement.unit_partition(static_cast<std::size_t>(fit));
    StageWork work;
    const std::uint32_t walked = fitting_ || dyn_dim == 0 ? dyn_dim : partition.dyn_dim;
    std::map<std::array<std::uint32_t, 4>, std::uint8_t> kinds;
    for (unsigned rank = 0; rank < placement.tiles.size(); ++rank) {
        const Box real = output_box(placement.shape, partition, placement.k_factor, rank, dyn_dim);
        const Box box = output_box(placement.shape, partition, placement.k_factor, rank, walked);
        const std::array<std::uint32_t, 4> extents{real.n1 - real.n0, box.n1 - box.n0, box.k1 - box.k0,
                                                   box.p1 - box.p0};
        const auto [kind, added] = kinds.emplace(extents, static_cast<std::uint8_t>(work.kinds.size()));
        if (added) {
            work.kinds.push_back(use(stage, rank, dyn_dim, walked, invocation, work.kernel));
            work.cycles = std::max(work.cycles, work.kinds.back().cycles);
        }
        work.kind_of_rank.push_back(kind->second);
    }
    if (dyn_dim == 0) work.kernel = -1;
    return work;
}

KernelUse KernelMeter::use(const Stage& stage, unsigned rank, std::uint32_t dyn_dim, std::uint32_t walked,
                           const Invocation& invocation, int& kernel) {
    KernelUse use = run(stage, rank, dyn_dim, invocation, kernel);
    if (walked == dyn_dim) return use;
    // All blocks of the kernel, of which those for the real samples are the useful ones.
    const hw::PeArray::Stats useful = use.pe_array;
    use = run(stage, rank, walked, invocation, kernel);
    use.pe_array.macs = useful.macs;
    use.pe_array.vector_elements = useful.vector_elements;
    return use;
}

KernelUse KernelMeter::run(const Stage& stage, unsigned rank, std::uint32_t dyn_dim, const Invocation& invocation,
                           int& kernel) {
    load_kernels(stage, dyn_dim, invocation);
    const Edge& input = stage.program->edge(stage.inputs.front());
    DispatchExtension& request = request_.extension();
    request.kernel_first = 0;
    request.kernel_count = static_cast<std::uint16_t>(kernels_loaded_);
    if (invocation.of_batch.later) {  // names the kernel of the invocation
        const int fit = stage.placement->best_fit(invocation.allocation, invocation.samples(dyn_dim));
        request.kernel_first = static_cast<std::uint16_t>(static_cast<std::uint32_t>(fit) - first_kernel_);
        request.kernel_count = 1;
    }
    request.invocation_samples = invocation.of_batch.samples;
    request.rank = static_cast<std::uint16_t>(rank);
    request.dyn_dim = dyn_dim;
    request.input_offset = input.slot_offset;
    request.input_bytes = input.slot_bytes;
    request.weight_offset = stage.weights.empty() ? 0 : stage.program->edge(stage.weights.front()).slot_offset;
    request.output_offset = stage.share->out_offset;
    request.channelwise = stage.placement->shape.kind == OpKind::depthwise;
    request.operand_bytes = stage.placement->shape.operand_bytes;
    request.result_bytes = stage.placement->shape.element_bytes;

    const hw::KernelDispatcher::Stats dispatcher = dispatcher_->stats();
    const hw::PeArray::Stats pe_array = pe_array_->stats();
    const hw::Scratchpad::Stats scratchpad = scratchpad_.stats();
    // One dispatch after another, with a pause in which all of the tile's ports become idle.
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const sc_core::sc_time start = std::max(free_, now) - now;
    sc_core::sc_time delay = start;
    ::tlm::tlm_generic_payload& payload = request_.fresh();
    dispatch_->b_transport(payload, delay);
    if (payload.is_response_error())
        throw registry_.failure(*this, fmt::format("operator {}: a kernel is refused", stage.placement->op_id));
    free_ = now + delay + (delay - start);
    kernel = static_cast<int>(first_kernel_) + request.kernel;

    KernelUse use;
    use.cycles = request.cycles;
    use.blocks_issued = dispatcher_->stats().blocks_issued - dispatcher.blocks_issued;
    use.blocks_skipped = dispatcher_->stats().blocks_skipped - dispatcher.blocks_skipped;
    use.search_cycles = dispatcher_->stats().search_cycles - dispatcher.search_cycles;
    use.pe_array.commands = pe_array_->stats().commands - pe_array.commands;
    use.pe_array.macs = pe_array_->stats().macs - pe_array.macs;
    use.pe_array.vector_elements = pe_array_->stats().vector_elements - pe_array.vector_elements;
    use.pe_array.busy_cycles = pe_array_->stats().busy_cycles - pe_array.busy_cycles;
    const hw::Scratchpad::Stats after = scratchpad_.stats();
    use.scratchpad.read_bytes = after.read_bytes - scratchpad.read_bytes;
    use.scratchpad.write_bytes = after.write_bytes - scratchpad.write_bytes;
    use.scratchpad.accesses = after.accesses - scratchpad.accesses;
    use.scratchpad.busy_cycles = after.busy_cycles - scratchpad.busy_cycles;
    return use;
}

void KernelMeter::load_kernels(const Stage& stage, std::uint32_t dyn_dim, const Invocation& invocation) {
    const unsigned allocation = invocation.allocation;
    const bool fit = stage.share->kernel_count * kKernelBytes <= scratchpad_.kernel_region_bytes();
    const auto best = static_cast<std::uint32_t>(stage.placement->best_fit(allocation, invocation.samples(dyn_dim)));
    const auto begin = static_cast<std::uint32_t>(stage.placement->first_partition(allocation));
    const auto end = static_cast<std::uint32_t>(stage.placement->last_partition(allocation));
    const std::uint32_t first = fit ? begin : best;
    if (loaded_ == &stage && first_kernel_ == first) return;
    loaded_ = &stage;
    first_kernel_ = first;
    std::uint32_t count = fit ? end - begin : 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        KernelBytes bytes = encode(stage.program->kernels[stage.share->kernel_first + first + i]);
        write(store_, i * kKernelBytes, bytes.data(), kKernelBytes);
    }
    write(configure_, 0, reinterpret_cast<unsigned char*>(&count), sizeof count);
    kernels_loaded_ = count;
}

std::uint64_t KernelMeter::configuration_cycles(const TileProgram& program) {
    if (program.kernels.empty()) return 0;
    if (kernel_read_cycles_ == 0) {
        loaded_ = nullptr;
        KernelBytes bytes = encode(program.kernels.front());
        const sc_core::sc_time begin = write(store_, 0, bytes.data(), kKernelBytes);
        std::uint32_t count = 1;
        const sc_core::sc_time end = write(configure_, 0, reinterpret_cast<unsigned char*>(&count), sizeof count);
        kernel_read_cycles_ = clock_.count(end - begin);
    }
    return kernel_read_cycles_ * program.kernels.size();
}

sc_core::sc_time KernelMeter::write(tlm_utils::simple_initiator_socket<KernelMeter>& socket, std::uint64_t address,
                                    unsigned char* bytes, unsigned size) {
    ::tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(address);
    payload.set_data_ptr(bytes);
    payload.set_data_length(size);
    payload.set_streaming_width(size);
    sc_core::sc_time delay = std::max(free_, sc_core::sc_time_stamp()) - sc_core::sc_time_stamp();
    socket->b_transport(payload, delay);
    if (payload.is_response_error()) throw registry_.failure(*this, "a kernel is refused");
    return free_ = sc_core::sc_time_stamp() + delay;
}

}  // namespace switchyard::platform
