// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <tlm>

namespace switchyard::hw {

/// Copies of the extensions that the sender of a request has on its payload and that memory does not know. As an
/// extension of its own on a reply it shows them on the reply's payload. Used again for the next request without an
/// allocation, as long as senders use the same extensions.
class SenderExtensions : public ::tlm::tlm_extension<SenderExtensions> {
public:
    SenderExtensions() = default;
    SenderExtensions(const SenderExtensions& other) : tlm_extension(other) { copy(other); }
    SenderExtensions& operator=(const SenderExtensions&) = delete;

    /// Takes copies of all extensions of `payload` but PacketExtension, MemoryExtension and this class.
    void take(const ::tlm::tlm_generic_payload& payload);
    /// Takes copies of what `other` has, and lets `payload`, which stays alive as long as this one, have them.
    void show(const SenderExtensions& other, ::tlm::tlm_generic_payload& payload);
    void reset() {}

    ::tlm::tlm_extension_base* clone() const override { return new SenderExtensions(*this); }
    void copy_from(const ::tlm::tlm_extension_base& other) override {
        copy(static_cast<const SenderExtensions&>(other));
    }

private:
    struct Free {
        void operator()(::tlm::tlm_extension_base* extension) const { extension->free(); }
    };
    struct Kept {
        unsigned id = 0;
        bool present = false;
        std::unique_ptr<::tlm::tlm_extension_base, Free> copy;
    };

    void copy(const SenderExtensions& other);
    void keep(unsigned id, const ::tlm::tlm_extension_base& extension);

    std::vector<Kept> kept_;
};

}  // namespace switchyard::hw
