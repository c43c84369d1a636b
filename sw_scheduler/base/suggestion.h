// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchyard {

/// "; did you mean WORD?" for the known word that is nearest to a mistyped one, if at most a third of its characters
/// are wrong, missing, too many or swapped with their neighbours; otherwise nothing.
std::string suggestion(const std::string& mistyped, const std::vector<std::string>& known);

/// "expected one of a, b, c, found WORD; did you mean b?"
std::string not_one_of(const std::string& word, const std::vector<std::string>& known);

}  // namespace switchyard
