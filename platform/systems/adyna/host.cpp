// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/systems/adyna/host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "switchyard/hw/host/host_registers.h"
#include "switchyard/tlm/simulation_registry.h"

namespace switchyard::platform {

namespace regs = hw::host_registers;

namespace {

constexpr std::uint32_t kNoLimit = 0xFFFFFFFF;  ///< of waits: a simulation that stands still ends by itself
constexpr std::uint64_t kMaxDmaBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaskBuffer = std::uint64_t{1} << 20;
constexpr std::uint64_t kListBuffer = std::uint64_t{1} << 31;
constexpr std::uint64_t kTensorBuffer = std::uint64_t{1} << 32;  ///< pieces of tensors, one behind another

}  // namespace

SimulatedHost::SimulatedHost(const sc_core::sc_module_name& name, const HostMemory::Config& memory_config, Job job)
    : sc_core::sc_module(name),
      config("config"),
      irq("irq"),
      memory("memory", memory_config),
      job_(std::move(job)),
      batches_(static_cast<std::uint32_t>(job_.routing->size())) {
    switchyard_io io{};
    io.context = this;
    io.read32 = [](void* self, std::uint32_t offset) {
        return static_cast<SimulatedHost*>(self)->read_register(offset);
    };
    io.write32 = [](void* self, std::uint32_t offset, std::uint32_t value) {
        static_cast<SimulatedHost*>(self)->write_register(offset, value);
    };
    io.read_block = [](void* self, std::uint32_t offset, void* data, std::size_t bytes) {
        static_cast<SimulatedHost*>(self)->access(::tlm::TLM_READ_COMMAND, offset, static_cast<std::uint8_t*>(data),
                                                  bytes);
    };
    io.write_block = [](void* self, std::uint32_t offset, const void* data, std::size_t bytes) {
        // A write does not change its data.
        auto* const bytes_to_write = const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(data));
        static_cast<SimulatedHost*>(self)->access(::tlm::TLM_WRITE_COMMAND, offset, bytes_to_write, bytes);
    };
    io.wait_for_interrupt = [](void* self) {
        const sc_core::sc_in<bool>& line = static_cast<SimulatedHost*>(self)->irq;
        while (!line.read()) sc_core::wait(line.posedge_event());
        return true;
    };
    switchyard_init(&device_, &io, kNoLimit);
    if (log_ != nullptr) {
        batches_track_ = log_->track("host", "batches");
        work_track_ = log_->track("host", "software");
    }
    SC_THREAD(software);
}

void SimulatedHost::software() {
    switchyard_enable_interrupts(&device_, regs::kIrqAll);
    result_.phases.push_back({0, {job_.image, [](const Image*) {}}, sc_core::SC_ZERO_TIME});
    check(switchyard_load_image(&device_, job_.image_bytes.data(), job_.image_bytes.size()));
    result_.image_loaded = sc_core::sc_time_stamp();
    result_.weight_bytes = send_weights();
    result_.weights_loaded = sc_core::sc_time_stamp();
    run_batches();
    read_profiles();
    result_.finished = true;
}

std::vector<const SimulatedHost::Profile*> SimulatedHost::Result::last_profiles() const {
    std::vector<const Profile*> last(phases.size(), nullptr);
    for (const Profile& profile : profiles) last[profile.phase] = &profile;
    return last;
}

void SimulatedHost::run_batches() {
    send_inputs(0);
    job_.run_begins();
    for (std::uint32_t batch = 0; batch < batches_; ++batch) {
        ring_doorbell(batch);
        if (job_.ends_early && job_.ends_early()) batches_ = batch + 1;
        if (batch > 0 && !reschedules_after(batch - 1)) fetch_outputs(batch - 1);
        const bool drains = reschedules_after(batch);
        if (batch + 1 < batches_ && !drains) send_inputs(batch + 1);
        switchyard_batch done{};
        check(switchyard_wait_batch(&device_, &done));
        result_.batches.back().chip_cycles = done.cycles;
        if (log_ != nullptr)
            log_->slice(batches_track_, fmt::format("batch {}", batch), result_.batches.back().doorbell.value(),
                        result_.batches.back().interrupt.value(), {{"batch", batch}});
        const bool last = batch + 1 == batches_;
        if (drains) {
            fetch_outputs(batch);
            reschedule(batch + 1);
        } else if (!last && job_.profile_interval != 0 && (batch + 1) % job_.profile_interval == 0)
            read_profiles();
    }
    job_.run_ends();
    fetch_outputs(batches_ - 1);
}

bool SimulatedHost::reschedules_after(std::uint32_t batch) const {
    return job_.reschedule_interval != 0 && (batch + 1) % job_.reschedule_interval == 0 && batch + 1 < batches_;
}

void SimulatedHost::reschedule(std::uint32_t next_batch) {
    const sc_core::sc_time begin = result_.batches.back().interrupt;
    read_profiles();
    Schedule schedule = job_.reschedule(result_.profiles.back());
    if (schedule.image) {
        check(switchyard_load_image(&device_, schedule.bytes.data(), schedule.bytes.size()));
        job_.image = schedule.image.get();
        result_.weight_bytes += send_weights();
        result_.phases.push_back({next_batch, std::move(schedule.image), sc_core::SC_ZERO_TIME});
    }
    send_inputs(next_batch);
    result_.phases.back().reconfiguration += sc_core::sc_time_stamp() - begin;
}

void SimulatedHost::ring_doorbell(std::uint32_t batch) {
    if (job_.before_batch) job_.before_batch(batch);
    result_.batches.push_back({sc_core::sc_time_stamp(), sc_core::SC_ZERO_TIME, 0});
    check(switchyard_queue_batch(&device_, batch));
}

std::uint64_t SimulatedHost::send_weights() {
    const std::uint64_t bytes = add_tensors("weights", 0, regs::kDmaToChip);
    dma();
    return bytes;
}

void SimulatedHost::log(const char* what, const sc_core::sc_time& begin, std::uint32_t batch) const {
    if (log_ != nullptr)
        log_->slice(work_track_, what, begin.value(), sc_core::sc_time_stamp().value(), {{"batch", batch}});
}

void SimulatedHost::send_inputs(std::uint32_t batch) {
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    result_.input_bytes += add_tensors("input", batch, regs::kDmaToChip);
    add_masks(batch);
    dma();
    log("send inputs", begin, batch);
}

void SimulatedHost::add_masks(std::uint32_t batch) {
    const BatchRouting& routing = (*job_.routing)[batch];
    std::uint64_t buffer = kMaskBuffer;
    for (std::size_t i = 0; i < routing.masks.size(); ++i) {
        const ImageMeta::Switch& target = job_.image->meta.switches[i];
        std::vector<std::uint8_t> bytes;
        bytes.reserve(routing.masks[i].size() * sizeof(std::uint64_t));
        for (const std::uint64_t mask : routing.masks[i]) {
            const std::uint64_t word = job_.values ? 0 : mask;
            for (unsigned byte = 0; byte < sizeof word; ++byte)
                bytes.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
        }
        memory.write(buffer, bytes.data(), bytes.size());
        transfers_.push_back(
            {buffer, target.mask_address + (batch % 2) * target.bank_stride, bytes.size(), regs::kDmaToChip});
        buffer += bytes.size();
        result_.mask_bytes += bytes.size();
    }
}

void SimulatedHost::fetch_outputs(std::uint32_t batch) {
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    result_.output_bytes += add_tensors("output", batch, regs::kDmaFromChip);
    std::uint64_t buffer = kMaskBuffer;
    const std::uint64_t mask_bytes = std::uint64_t{job_.image->meta.batch_samples} * sizeof(std::uint64_t);
    for (const ImageMeta::Switch& source : job_.image->meta.switches) {
        if (!job_.values) break;
        transfers_.push_back(
            {buffer, source.mask_address + (batch % 2) * source.bank_stride, mask_bytes, regs::kDmaFromChip});
        buffer += mask_bytes;
    }
    dma();
    log("fetch outputs", begin, batch);
    for (const Piece& piece : expected_)
        job_.values->take(*piece.tensor, piece.index, batch,
                          memory.read(piece.buffer, piece.tensor->piece_bytes[piece.index]));
    expected_.clear();
    if (job_.values) take_masks();
}

void SimulatedHost::take_masks() {
    BatchRouting routed{job_.image->meta.batch_samples, {}};
    const std::uint64_t size = routed.samples * sizeof(std::uint64_t);
    for (std::size_t i = 0; i < job_.image->meta.switches.size(); ++i) {
        const std::vector<std::uint8_t> bytes = memory.read(kMaskBuffer + i * size, size);
        std::vector<std::uint64_t> masks(routed.samples, 0);
        for (std::size_t b = 0; b < size; ++b) masks[b / 8] |= std::uint64_t{bytes[b]} << (8 * (b % 8));
        routed.masks.push_back(std::move(masks));
    }
    result_.routed.push_back(std::move(routed));
}

std::uint64_t SimulatedHost::add_tensors(const std::string& kind, std::uint32_t batch, std::uint32_t direction) {
    std::uint64_t moved = 0;
    const std::uint32_t flags = direction | (job_.values ? 0u : std::uint32_t{regs::kDmaSizeOnly});
    for (const ImageMeta::Tensor& tensor : job_.image->meta.tensors) {
        if (tensor.kind != kind) continue;
        if (tensor.name == "input" && !job_.sends_inputs) continue;
        if (kind == "output" && !job_.fetches_outputs) continue;
        for (std::size_t i = 0; i < tensor.addresses.size(); ++i) {
            const std::uint64_t address = tensor.addresses[i] + (batch % 2) * tensor.bank_stride;
            const std::uint64_t buffer = kTensorBuffer + (job_.values ? moved : 0);
            if (job_.values && direction == regs::kDmaToChip) {
                const std::vector<std::uint8_t> bytes = job_.values->piece(tensor, i, batch);
                memory.write(buffer, bytes.data(), bytes.size());
            } else if (job_.values) {
                expected_.push_back({&tensor, i, buffer});
            }
            for (std::uint64_t done = 0; done < tensor.piece_bytes[i];) {
                const std::uint64_t bytes = std::min(tensor.piece_bytes[i] - done, kMaxDmaBytes);
                transfers_.push_back({buffer + (job_.values ? done : 0), address + done, bytes, flags});
                done += bytes;
            }
            moved += tensor.piece_bytes[i];
        }
    }
    return moved;
}

void SimulatedHost::dma() {
    constexpr std::size_t kMax = SWITCHYARD_LIST_DESCRIPTORS;
    for (std::size_t first = 0; first < transfers_.size(); first += kMax) {
        const std::size_t count = std::min(kMax, transfers_.size() - first);
        std::vector<std::uint8_t> list(count * SWITCHYARD_DESCRIPTOR_BYTES);
        for (std::size_t i = 0; i < count; ++i) {
            const Transfer& transfer = transfers_[first + i];
            switchyard_put_descriptor(&list[i * SWITCHYARD_DESCRIPTOR_BYTES], transfer.host_address,
                                      transfer.chip_address, static_cast<std::uint32_t>(transfer.bytes),
                                      transfer.flags);
        }
        memory.write(kListBuffer, list.data(), list.size());
        switchyard_start_dma_list(&device_, kListBuffer, static_cast<std::uint32_t>(count));
        check(switchyard_wait_dma(&device_));
    }
    transfers_.clear();
}

void SimulatedHost::read_profiles() {
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    Profile profile;
    profile.batches = static_cast<std::uint32_t>(result_.batches.size());
    profile.phase = result_.phases.size() - 1;
    profile.batches_of_phase = profile.batches - result_.phases.back().first_batch;
    for (unsigned tile = 0; tile < job_.tiles; ++tile) {
        std::uint32_t count = 0;
        check(switchyard_fetch_profile(&device_, tile, &count));
        std::vector<switchyard_profile_record> fetched(count);
        switchyard_read_profile(&device_, 0, fetched.data(), count);
        std::vector<ProfileRecord> records;
        records.reserve(count);
        for (const switchyard_profile_record& record : fetched)
            records.push_back({record.op, record.dyn_dim, record.invocations});
        profile.by_tile.push_back(std::move(records));
    }
    result_.profiles.push_back(std::move(profile));
    log("read profiles", begin, result_.profiles.back().batches);
}

void SimulatedHost::check(switchyard_result result) {
    if (result == SWITCHYARD_OK) return;
    if (result != SWITCHYARD_CHIP_ERROR) throw ModelError(*this, switchyard_result_text(result));
    std::vector<std::uint8_t> text(regs::kErrorTextWindowBytes, 0);
    ::tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(regs::kErrorTextWindow);
    payload.set_data_ptr(text.data());
    payload.set_data_length(static_cast<unsigned>(text.size()));
    payload.set_streaming_width(static_cast<unsigned>(text.size()));
    const unsigned size = config->transport_dbg(payload);
    const auto end = std::find(text.begin(), text.begin() + size, 0);
    throw ModelError(*this, fmt::format("the chip reports error {} ({}): {}", device_.error, device_.error_info,
                                        std::string(text.begin(), end)));
}

std::uint32_t SimulatedHost::read_register(std::uint64_t offset) {
    std::uint8_t bytes[4] = {};
    access(::tlm::TLM_READ_COMMAND, offset, bytes, sizeof bytes);
    const std::uint32_t value =
        bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24;
    if (offset == regs::kIrqStatus && (value & regs::kIrqBatchDone) != 0) {
        result_.batches.back().interrupt = sc_core::sc_time_stamp();
        if (job_.batch_ended) job_.batch_ended(result_.batches.size() - 1);
    }
    return value;
}

void SimulatedHost::write_register(std::uint64_t offset, std::uint32_t value) {
    std::uint8_t bytes[4];
    for (unsigned i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
    access(::tlm::TLM_WRITE_COMMAND, offset, bytes, sizeof bytes);
    if (offset == regs::kIrqStatus) wait(sc_core::SC_ZERO_TIME);  // the line falls one delta cycle after the write
}

void SimulatedHost::access(::tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, std::size_t size) {
    ::tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(static_cast<unsigned>(size));
    payload.set_streaming_width(static_cast<unsigned>(size));
    payload.set_byte_enable_ptr(nullptr);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    config->b_transport(payload, delay);
    if (payload.is_response_error())
        throw ModelError(*this, fmt::format("expected the configuration port to take address {:#x}, found {}", address,
                                            payload.get_response_string()));
    wait(delay);
}

}  // namespace switchyard::platform
