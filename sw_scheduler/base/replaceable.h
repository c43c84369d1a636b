// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace switchyard {

/// Which files OutputFile (files.h) replaces.
enum class Existing {
    ours,  ///< only what has_output_marker() knows, and empty files
    any
};

/// What OutputFile does from now on. Existing::any at first; the programs set Existing::ours unless --force is given.
void set_replaceable(Existing which);
Existing replaceable();

/// Throws InputError if a file is there that OutputFile would refuse to replace: for programs, before they begin to
/// work.
void check_replaceable(const std::string& path);
/// False also where there is no file.
bool is_written_by_us(const std::string& path);

/// While it lives, OutputFile replaces any file: for folders that are our own.
class ReplacesAny {
public:
    ReplacesAny() : before_(replaceable()) { set_replaceable(Existing::any); }
    ~ReplacesAny() { set_replaceable(before_); }
    ReplacesAny(const ReplacesAny&) = delete;
    ReplacesAny& operator=(const ReplacesAny&) = delete;

private:
    Existing before_;
};

}  // namespace switchyard
