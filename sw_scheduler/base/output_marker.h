// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace switchyard {

/// The beginning of a text file that Switchyard writes and whose format has comments.
inline constexpr std::string_view kWrittenComment = "# Written by switchyard";
/// The same of HTML and SVG.
inline constexpr std::string_view kWrittenElement = "<!-- Written by switchyard -->";
/// The key and value by which JSON without a `format` says who wrote it.
inline constexpr const char* kProgramKey = "program";
inline constexpr const char* kProgram = "switchyard";

/// Whether a file with this beginning was written by one of our programs: a magic number of ours, `format` or `program`
/// of JSON, a comment, the header of a log in CSV, or how npy_bytes() writes a shape. All that is needed is in the
/// first kMarkerBytes.
bool has_output_marker(std::string_view beginning);
inline constexpr std::size_t kMarkerBytes = 4096;

}  // namespace switchyard
