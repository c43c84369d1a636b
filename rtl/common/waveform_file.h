// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

class VerilatedFstC;

namespace switchyard::rtl {

/// The file that shows a failure of the RTL, in the working directory. None without a name.
class WaveformFile {
public:
    WaveformFile() = default;
    /// Removes the file that an earlier run left.
    explicit WaveformFile(std::string name);

    const std::string& name() const { return name_; }

    /// Has `fill` write the file, the first time. Returns "; waveform: NAME" or why there is none, "" without a name.
    std::string write(const std::function<void(VerilatedFstC&)>& fill);

private:
    std::string name_, evidence_;
};

}  // namespace switchyard::rtl
