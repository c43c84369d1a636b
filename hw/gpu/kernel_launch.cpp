// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/gpu/kernel_launch.h"

namespace switchyard::hw {

void set_access(::tlm::tlm_generic_payload& payload, bool write, std::uint64_t address, void* data, unsigned bytes) {
    payload.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_byte_enable_ptr(nullptr);
    payload.set_byte_enable_length(0);
    payload.set_dmi_allowed(false);
    payload.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace switchyard::hw
