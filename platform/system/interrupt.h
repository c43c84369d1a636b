// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::platform {

/// From now on SIGINT and SIGTERM set a flag, once; the second one ends the process.
void catch_interrupts();
bool interrupts_are_caught();
bool interrupt_requested();

}  // namespace switchyard::platform
