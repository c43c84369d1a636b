// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

namespace switchyard {

/// Gives a payload an extension that its sender keeps, for one access. A payload deletes the extensions that it still
/// has when it goes, also when the access throws: this one is taken from it before.
template <class Extension>
class BorrowedExtension {
public:
    BorrowedExtension(::tlm::tlm_generic_payload& payload, Extension& extension)
        : payload_(payload), extension_(extension) {
        payload_.set_extension(&extension_);
    }
    ~BorrowedExtension() { payload_.clear_extension(&extension_); }
    BorrowedExtension(const BorrowedExtension&) = delete;
    BorrowedExtension& operator=(const BorrowedExtension&) = delete;

private:
    ::tlm::tlm_generic_payload& payload_;
    Extension& extension_;
};

}  // namespace switchyard
