// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "switchyard/sw_scheduler/adyna/image/image.h"

namespace switchyard::testing {

/// Two tiles in one segment: operator 0 (the host's input) comes from HBM to operator 1 on both tiles, which also
/// computes a gate; operator 2, behind the switch, runs on tile 1. Every field differs from its default.
Image small_image();

/// What `action` throws as InputError, or "" if it does not.
template <class Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

/// A file that is there while the object lives.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& contents = {});
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return path_; }
    std::string contents() const;

private:
    std::string path_;
};

}  // namespace switchyard::testing
