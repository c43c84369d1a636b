// SPDX-License-Identifier: Apache-2.0
// How a tile is configured and read back: program window, commit, profile.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "switchyard/hw/tile/tile_controller.h"
#include "switchyard/sw_scheduler/base/error.h"

namespace switchyard::hw {

void TileController::on_config(const InterfaceEvent& event) {
    if (event.kind == InterfaceEvent::Kind::config_read) {
        if (event.address != kTileProfileRead)
            throw ModelError(
                *this, fmt::format("expected a read of address {:#x}, found {:#x}", kTileProfileRead, event.address));
        InterfaceCommand reply;
        reply.kind = InterfaceCommand::Kind::send_profile;
        if (program_) {
            const std::vector<ProfileRecord> records = profiler_.records(*program_);
            reply.bytes.resize(records.size() * sizeof(ProfileRecord));
            std::memcpy(reply.bytes.data(), records.data(), reply.bytes.size());
        }
        command(reply);
        return;
    }
    std::uint32_t word = 0;
    if (event.address >= kTileProgramCommit && event.size == sizeof word) std::memcpy(&word, event.bytes, sizeof word);
    if (event.address == kTileProgramCommit) {
        commit_program(word);
    } else if (event.address == kTileProfileClear) {
        profiler_.clear();
    } else if (event.address < kTileProgramCommit) {
        program_bytes_.resize(std::max<std::size_t>(program_bytes_.size(), event.address + event.size));
        std::copy_n(event.bytes, event.size, program_bytes_.begin() + static_cast<std::ptrdiff_t>(event.address));
    } else {
        throw ModelError(*this, fmt::format("expected a write below address {:#x}, or to {:#x} or {:#x}, found {:#x}",
                                            kTileProgramCommit, kTileProgramCommit, kTileProfileClear, event.address));
    }
}

void TileController::commit_program(std::size_t size) {
    try {
        if (size > program_bytes_.size())
            throw InputError(fmt::format("expected a program of {} bytes, found {}", size, program_bytes_.size()));
        auto program = std::make_shared<TileProgram>(decode_tile_program(program_bytes_.data(), size));
        for (std::size_t i = 0; i < program->kernels.size(); ++i) {
            KernelBytes bytes = switchyard::encode(program->kernels[i]);
            if (write(scratchpad, i * kKernelBytes, bytes.data(), kKernelBytes) != ::tlm::TLM_OK_RESPONSE) {
                throw InputError(fmt::format("expected room for {} kernels, found {}", program->kernels.size(), i));
            }
        }
        auto count = static_cast<std::uint32_t>(program->kernels.size());
        if (write(dispatcher_config, 0, reinterpret_cast<unsigned char*>(&count), sizeof count) !=
            ::tlm::TLM_OK_RESPONSE) {
            throw InputError(
                fmt::format("expected the dispatcher to take {} kernels, found that it refuses them", count));
        }
        program_ = std::move(program);
    } catch (const InputError&) {
        send_control(ControlCode::program_error);
        return;
    }
    operators_.clear();
    for (const TileOperator& op : program_->operators) {
        Operator state;
        state.op = &op;
        state.placement = &program_->placement(op.op_id);
        for (const std::uint16_t id : op.in_edges) {
            const Edge& edge = program_->edge(id);
            if (edge.path == EdgePath::weights) {
                state.weights.push_back(Weights{&edge});
            } else if (!carries_decisions(edge.path)) {
                state.inputs.push_back(Input{&edge, {}, {}});
            }
        }
        operators_.push_back(std::move(state));
    }
    profiler_.reset(*program_);
    InterfaceCommand load;
    load.kind = InterfaceCommand::Kind::program;
    load.program = program_;
    command(load);
    send_control(ControlCode::program_ready);
}

::tlm::tlm_response_status TileController::write(tlm_utils::simple_initiator_socket<TileController>& socket,
                                                 std::uint64_t address, unsigned char* bytes, unsigned size) {
    Payload& payload = messages_.allocate();
    payload.set_command(::tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(bytes);
    payload.set_data_length(size);
    payload.set_streaming_width(size);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    const ::tlm::tlm_response_status status = payload.get_response_status();
    payload.release();
    return status;
}

}  // namespace switchyard::hw
