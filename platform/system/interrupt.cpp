// SPDX-License-Identifier: Apache-2.0
#include "switchyard/platform/system/interrupt.h"

#include <csignal>

namespace switchyard::platform {

namespace {

volatile std::sig_atomic_t requested = 0;
bool caught = false;

extern "C" void note_interrupt(int) {
    requested = 1;
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = note_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    caught = true;
}

bool interrupts_are_caught() {
    return caught;
}

bool interrupt_requested() {
    return requested != 0;
}

}  // namespace switchyard::platform
