// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace switchyard {

/// Bad input from outside: a file, a command line, an image. Programs print `what()` as one line and exit with 2.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;

    /// "file:line: key: message"; `line` 0 and an empty key are left out.
    InputError(const std::string& file, int line, const std::string& key, const std::string& message);
};

/// A network that does not fit the chip: with another chip, or another design, it may. Experiments go on without it.
class Infeasible : public InputError {
public:
    using InputError::InputError;
};

}  // namespace switchyard
