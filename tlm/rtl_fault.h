// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace switchyard {

/// The RTL implementation of a model, which runs in its place or beside it in lockstep, is broken or differs from it.
/// One line without time and module: the module that holds the RTL adds them (ModelError). Knows no SystemC.
class RtlFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A part of a module that can be RTL.
class RtlPart {
public:
    virtual ~RtlPart() = default;
    /// Something has failed in it: writes its last cycles to a file and returns "; waveform: FILE", to go behind the
    /// message. "" of a model. RtlFaults that it throws itself have that already.
    virtual std::string evidence() { return ""; }
};

}  // namespace switchyard
