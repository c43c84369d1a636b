// SPDX-License-Identifier: Apache-2.0
#include "switchyard/hw/memory/sender_extensions.h"

#include <algorithm>

#include "switchyard/tlm/memory_request.h"
#include "switchyard/tlm/packet.h"

namespace switchyard::hw {

void SenderExtensions::take(const ::tlm::tlm_generic_payload& payload) {
    for (Kept& kept : kept_) kept.present = false;
    // Read once: the compiler does not know that the calls in the loop leave them as they are.
    const unsigned count = ::tlm::max_num_extensions();
    const unsigned packet = PacketExtension::ID, memory = MemoryExtension::ID, own = SenderExtensions::ID;
    for (unsigned id = 0; id < count; ++id) {
        if (id == packet || id == memory || id == own) continue;
        if (const ::tlm::tlm_extension_base* const extension = payload.get_extension(id)) keep(id, *extension);
    }
}

void SenderExtensions::show(const SenderExtensions& other, ::tlm::tlm_generic_payload& payload) {
    copy(other);
    for (const Kept& kept : kept_) payload.set_extension(kept.id, kept.present ? kept.copy.get() : nullptr);
}

void SenderExtensions::copy(const SenderExtensions& other) {
    for (Kept& kept : kept_) kept.present = false;
    for (const Kept& kept : other.kept_)
        if (kept.present) keep(kept.id, *kept.copy);
}

void SenderExtensions::keep(unsigned id, const ::tlm::tlm_extension_base& extension) {
    auto kept = std::find_if(kept_.begin(), kept_.end(), [id](const Kept& candidate) { return candidate.id == id; });
    if (kept == kept_.end()) {
        kept_.emplace_back().id = id;
        kept = kept_.end() - 1;
        kept->copy.reset(extension.clone());
    } else {
        kept->copy->copy_from(extension);
    }
    kept->present = true;
}

}  // namespace switchyard::hw
