// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace switchyard::platform {

/// Work that interrupt_requested() has ended.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// From now on SIGINT and SIGTERM set a flag, once; the second one ends the process.
void catch_interrupts();
bool interrupts_are_caught();
bool interrupt_requested();

}  // namespace switchyard::platform
