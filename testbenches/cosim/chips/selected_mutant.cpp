// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

/// What mutation_pkg.sv reads when a model is constructed: SWITCHYARD_MUTANT of the environment, 0 without it.
extern "C" unsigned switchyard_mutant() {
    const char* const number = std::getenv("SWITCHYARD_MUTANT");
    return number == nullptr ? 0U : static_cast<unsigned>(std::strtoul(number, nullptr, 10));
}
