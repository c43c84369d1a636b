// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace switchyard {

/// The most nodes of a YAML file, each alias counted as what it stands for.
inline constexpr std::size_t kMaxYamlNodes = 1000000;

/// Checks a YAML text before its nodes are built, which takes many times its size and loops through aliases. Throws
/// InputError "file:line: key: message": text that is no YAML or no text, a second document, more than kMaxYamlNodes
/// nodes, mappings and lists nested deeper than kMaxDepth, an alias within the node that it stands for, a key that a
/// mapping has twice.
void check_yaml(const std::string& text, const std::string& file);

/// `text` without a byte order mark, with LF in place of CRLF. Throws InputError for bytes that text does not have.
std::string plain_yaml(const std::string& text, const std::string& file);

}  // namespace switchyard
