// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace switchyard::rtl {

/// Receives what Verilator's run-time library has to say while models of this thread are constructed, evaluated and
/// destroyed between receive() and the next receive(). Without a receiver the library prints and aborts, as it does
/// elsewhere. With one nothing aborts, ends or prints an error: $fatal and regions that do not converge throw RtlFault
/// out of eval(); $error, $stop, $finish and failed assertions are kept, the first one of them, until eval() returns.
class ModelMessages {
public:
    /// The first error, in one line: file, line, and the assertion with its place in the hierarchy. "" if none.
    const std::string& error() const { return error_; }

    /// Makes `receiver` that of this thread and returns the one before. Null: none.
    static ModelMessages* receive(ModelMessages* receiver);
    static ModelMessages* receiver();

    /// A line that the RTL prints. False if it is no error, and to be printed.
    bool take(const std::string& line);
    /// An error at a place of the RTL; kept if it is the first.
    void add(const char* file, int line, const std::string& what);

private:
    std::string error_;
};

}  // namespace switchyard::rtl
