// SPDX-License-Identifier: Apache-2.0
// The operator new of the programs is mimalloc's: the models take and free small blocks all the time. It takes memory
// in huge pages where the kernel has them: the state of hundreds of tiles lies all over the heap, and an event touches
// that of a few.
#include <mimalloc-new-delete.h>
#include <mimalloc.h>

namespace {

[[maybe_unused]] const bool kHugePages = [] {
    mi_option_enable(mi_option_large_os_pages);
    return true;
}();

}  // namespace
