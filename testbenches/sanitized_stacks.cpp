// SPDX-License-Identifier: Apache-2.0
// For AddressSanitizer only: exceptions that leave sc_start().
//
// SystemC 2.3.4 tells the sanitizer when it switches between coroutines, but without bounds for the main one, and not
// when a process has ended (sysc/kernel/sc_cor_qt.cpp; mended in 3.0). An exception that is then thrown on the main
// stack leaves frames behind that the sanitizer does not clear, and what lies there next is an overflow to it
// (google/sanitizers#189). So who throws on the main stack says first that this is the stack.

#if defined(__SANITIZE_ADDRESS__)

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <typeinfo>

#include <sanitizer/common_interface_defs.h>

namespace {

struct Stack {
    char* bottom = nullptr;
    std::size_t bytes = 0;

    /// The thread's own, whichever coroutine asks.
    Stack() {
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
        void* address = nullptr;
        if (pthread_attr_getstack(&attributes, &address, &bytes) == 0) bottom = static_cast<char*>(address);
        pthread_attr_destroy(&attributes);
    }
    bool contains(const char* address) const { return address >= bottom && address < bottom + bytes; }
};

void announce_main_stack() {
    static const Stack kMain;
    char here = 0;
    if (!kMain.contains(&here)) return;
    __sanitizer_start_switch_fiber(nullptr, kMain.bottom, kMain.bytes);
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}

}  // namespace

/// In front of the sanitizer's and the runtime's (Itanium C++ ABI, 2.4.3).
extern "C" [[noreturn]] void __cxa_throw(void* exception, std::type_info* type, void (*destroy)(void*)) {
    using Throw = void (*)(void*, std::type_info*, void (*)(void*));
    static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
    announce_main_stack();
    next(exception, type, destroy);
    __builtin_unreachable();
}

#endif
