// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchyard::platform {

/// Asks the kernel to back the heap of this program with huge pages (2 MiB on x86-64) where it has transparent ones.
/// A large chip touches its whole state again and again, more of it than the TLB covers with pages of 4 KiB. Call it
/// before anything else. Nothing happens without glibc, under AddressSanitizer, or where the addresses of the process
/// are limited (`ulimit -v`, `ulimit -d`).
void prefer_huge_pages();

}  // namespace switchyard::platform
