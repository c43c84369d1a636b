// SPDX-License-Identifier: Apache-2.0
// Part of Verilator's run-time library (.cmake/SwitchyardRtl.cmake), which calls the functions below where it would
// print, stop or abort: VL_USER_STOP, VL_USER_FINISH, VL_USER_FATAL, and VL_PRINTF of verilated_print.h.
#include "switchyard/rtl/common/model_messages.h"

#include <verilated.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "switchyard/rtl/common/verilated_print.h"
#include "switchyard/tlm/rtl_fault.h"

namespace switchyard::rtl {
namespace {

thread_local ModelMessages* current = nullptr;

std::string at(const char* file, int line, const std::string& what) {
    if (file == nullptr || file[0] == '\0') return what;
    std::string name = file;
    name.erase(0, name.rfind('/') + 1);
    return name + ":" + std::to_string(line) + ": " + what;
}

}  // namespace

ModelMessages* ModelMessages::receive(ModelMessages* receiver) {
    ModelMessages* const before = current;
    current = receiver;
    return before;
}

ModelMessages* ModelMessages::receiver() {
    return current;
}

bool ModelMessages::take(const std::string& line) {
    const std::string mark =
        "%Error: ";  // "[time] %Error: file:line: Assertion failed in module.name: 'assert' failed."
    const std::size_t found = line.find(mark);
    if (found == std::string::npos) return line.rfind("-Info: ", 0) == 0;
    std::string text = line.substr(found + mark.size());
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    const std::string tail = ": 'assert' failed";
    if (text.size() > tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0)
        text.resize(text.size() - tail.size());
    if (error_.empty()) error_ = text;
    return true;
}

void ModelMessages::add(const char* file, int line, const std::string& what) {
    if (error_.empty()) error_ = at(file, line, what);
}

}  // namespace switchyard::rtl

using switchyard::rtl::ModelMessages;

int switchyard_verilated_print(const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::vector<char> text(static_cast<std::size_t>(length < 0 ? 0 : length) + 1);
    std::vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    ModelMessages* const receiver = ModelMessages::receiver();
    if (receiver != nullptr && receiver->take(text.data())) return length;
    return std::fputs(text.data(), stdout);
}

void vl_stop(const char* file, int line, const char* hierarchy) {
    VerilatedContext& context = *Verilated::threadContextp();
    context.gotError(true);
    context.gotFinish(true);
    if (ModelMessages* const receiver = ModelMessages::receiver()) {
        receiver->add(file, line, "$stop");
    } else if (context.fatalOnError()) {
        vl_fatal(file, line, hierarchy, "Verilog $stop");
    } else {
        switchyard_verilated_print("%%Error: %s:%d: Verilog $stop\n", file, line);
        Verilated::runFlushCallbacks();
    }
}

void vl_finish(const char* file, int line, const char*) {
    VerilatedContext& context = *Verilated::threadContextp();
    if (ModelMessages* const receiver = ModelMessages::receiver()) {
        context.gotError(true);
        context.gotFinish(true);
        return receiver->add(file, line, "$finish");
    }
    switchyard_verilated_print("- %s:%d: Verilog $finish\n", file, line);
    if (context.gotFinish()) {
        switchyard_verilated_print("- %s:%d: Second verilog $finish, exiting\n", file, line);
        Verilated::runFlushCallbacks();
        Verilated::runExitCallbacks();
        std::exit(0);
    }
    context.gotFinish(true);
}

void vl_fatal(const char* file, int line, const char*, const char* message) {
    VerilatedContext& context = *Verilated::threadContextp();
    context.gotError(true);
    context.gotFinish(true);
    if (ModelMessages* const receiver = ModelMessages::receiver()) {
        receiver->add(file, line, message);
        throw switchyard::RtlFault(receiver->error());
    }
    switchyard_verilated_print("%%Error: %s:%d: %s\nAborting...\n", file, line, message);
    Verilated::runFlushCallbacks();
    Verilated::runExitCallbacks();
    std::abort();
}
