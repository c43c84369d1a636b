// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::platform {

/// Exit statuses of the programs besides 0 and 2, bad input (docs/cli.md).
inline constexpr int kFailedCheck = 1, kInterrupted = 130;

}  // namespace switchyard::platform
