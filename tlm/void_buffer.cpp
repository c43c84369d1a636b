#include "switchyard/tlm/void_buffer.h"

#include <stdexcept>
#include <string>

#include "switchyard/tlm/lazy_memory.h"

namespace switchyard {

unsigned char* void_buffer(std::size_t bytes) {
    static const LazyMemory buffer(std::size_t{4} << 30);
    if (bytes > buffer.size()) throw std::length_error("void_buffer: " + std::to_string(bytes) + " bytes asked for");
    return buffer.data();
}

}  // namespace switchyard
