// SPDX-License-Identifier: Apache-2.0
#include "switchyard/rtl/common/waveform_file.h"

#include <verilated_fst_c.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace switchyard::rtl {

WaveformFile::WaveformFile(std::string name) : name_(std::move(name)) {
    if (!name_.empty()) std::remove(name_.c_str());
}

std::string WaveformFile::write(const std::function<void(VerilatedFstC&)>& fill) {
    if (name_.empty() || !evidence_.empty()) return evidence_;
    errno = 0;
    if (!std::ofstream(name_)) {
        evidence_ = "; no waveform, " + name_ + " cannot be written: " + std::strerror(errno);
        return evidence_;
    }
    VerilatedFstC file;
    fill(file);
    std::error_code ignored;
    const bool written = std::filesystem::file_size(name_, ignored) > 0 && !ignored;
    evidence_ = written ? "; waveform: " + name_ : "; no waveform, " + name_ + " cannot be written";
    return evidence_;
}

}  // namespace switchyard::rtl
