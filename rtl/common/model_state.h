// SPDX-License-Identifier: Apache-2.0
#pragma once

// Only for the sources that put a Verilated class behind a wrapper.
#include <verilated.h>
#include <verilated_save.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "switchyard/rtl/common/model_context.h"

namespace switchyard::rtl {

/// The registers of a Verilated model as bytes.
class StateWriter : public VerilatedSerialize {
public:
    StateWriter() { m_isOpen = true; }
    void flush() override {
        bytes_.insert(bytes_.end(), m_bufp, m_cp);
        m_cp = m_bufp;
    }
    std::vector<std::uint8_t> take() {
        flush();
        return std::move(bytes_);
    }

private:
    std::vector<std::uint8_t> bytes_;
};

class StateReader : public VerilatedDeserialize {
public:
    explicit StateReader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {
        m_isOpen = true;
        m_endp = m_bufp;
    }

private:
    void fill() override {
        std::copy(m_cp, m_endp, m_bufp);
        m_endp = m_bufp + (m_endp - m_cp);
        m_cp = m_bufp;
        const std::size_t room = static_cast<std::size_t>(m_bufp + bufferSize() - m_endp);
        const std::size_t count = std::min(room, bytes_.size() - taken_);
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(taken_), count, m_endp);
        taken_ += count;
        // Verilator reads ahead of the last value.
        std::fill(m_endp + count, m_bufp + bufferSize(), std::uint8_t{0});
        m_endp = m_bufp + bufferSize();
    }

    const std::vector<std::uint8_t>& bytes_;
    std::size_t taken_ = 0;
};

/// `top`: of a class that was Verilated with TRACE.
template <class Top>
std::vector<std::uint8_t> save_state(ModelContext& context, Top& top) {
    const ModelContext::Current current(context);
    StateWriter writer;
    writer << top;
    return writer.take();
}
template <class Top>
void restore_state(ModelContext& context, Top& top, const std::vector<std::uint8_t>& state) {
    const ModelContext::Current current(context);
    StateReader reader(state);
    reader >> top;
}

}  // namespace switchyard::rtl
