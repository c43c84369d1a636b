// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <tlm>

#include "switchyard/tlm/dummy_buffer.h"

namespace switchyard {

/// A payload with one extension, both used again for every transaction of an initiator that has one in flight at a time
/// and no need of a memory manager (b_transport without wait). Starts as a command to a component: TLM_IGNORE_COMMAND.
template <class Extension>
class ExtendedPayload {
public:
    ExtendedPayload() {
        payload_.set_extension(extension_);  // the payload's destructor frees it
        payload_.set_data_ptr(&no_data_);
        payload_.set_data_length(1);
        payload_.set_streaming_width(1);
    }
    ExtendedPayload(const ExtendedPayload&) = delete;
    ExtendedPayload& operator=(const ExtendedPayload&) = delete;

    Extension* operator->() { return extension_; }
    Extension& extension() { return *extension_; }
    /// The payload with the attributes that a target may have changed set back.
    ::tlm::tlm_generic_payload& fresh() {
        payload_.set_response_status(::tlm::TLM_INCOMPLETE_RESPONSE);
        payload_.set_dmi_allowed(false);
        return payload_;
    }
    /// As above, for a burst of which only the size matters. The target must not touch the data array.
    ::tlm::tlm_generic_payload& fresh_burst(::tlm::tlm_command command, std::uint64_t address, unsigned bytes,
                                            unsigned streaming_width) {
        payload_.set_command(command);
        payload_.set_address(address);
        payload_.set_data_ptr(dummy_buffer(bytes));
        payload_.set_data_length(bytes);
        payload_.set_streaming_width(streaming_width);
        return fresh();
    }

private:
    ::tlm::tlm_generic_payload payload_;
    Extension* extension_ = new Extension;
    unsigned char no_data_ = 0;
};

}  // namespace switchyard
