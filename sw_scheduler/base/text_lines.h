// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <memory>
#include <string>

namespace switchyard {

/// The lines of a text file or of a pipe, which is opened once. Line ends are LF or CRLF; a byte order mark of UTF-8 at
/// the beginning and blank lines are skipped. Throws InputError "file:line: message": what open_input() refuses, a line
/// of more than kMaxLineBytes, a NUL byte, a read that fails.
class TextLines {
public:
    /// `format`: what the file holds, for messages ("JSON", "CSV", "text").
    explicit TextLines(const std::string& path, std::string format = "text");
    /// Lines of a text that is in memory; `name` stands for the file in messages.
    TextLines(const std::string& text, std::string name, std::string format);

    /// Moves to the next line that is not blank; false at the end.
    bool next();
    /// The current line without its end.
    const std::string& line() const { return line_; }
    int number() const { return number_; }
    const std::string& path() const { return path_; }
    /// Throws InputError that names the current line; an empty key is left out.
    [[noreturn]] void fail(const std::string& key, const std::string& message) const;

private:
    bool read();

    std::string path_, format_, line_;
    std::unique_ptr<std::istream> input_;
    int number_ = 0;
};

}  // namespace switchyard
