// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace switchyard {

/// The RTL implementation of a model, which runs in its place or beside it in lockstep, is broken or differs from it.
/// One line without time and module: the module that holds the RTL adds them (ModelError). Knows no SystemC.
class RtlFault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace switchyard
