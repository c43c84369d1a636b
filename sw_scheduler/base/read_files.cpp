// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/read_files.h"

namespace switchyard {

namespace {

thread_local ReadFiles* innermost = nullptr;

}  // namespace

ReadFiles::ReadFiles() : outer_(innermost) {
    innermost = this;
}

ReadFiles::~ReadFiles() {
    innermost = outer_;
}

void ReadFiles::note(const std::string& path) {
    for (ReadFiles* one = innermost; one != nullptr; one = one->outer_) one->paths_.insert(path);
}

}  // namespace switchyard
