// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::platform {

/// An array of numbers as NumPy stores it.
struct NpyArray {
    std::vector<std::size_t> shape;
    std::vector<float> values;  ///< last dimension closest
};

/// Reads a .npy file of little-endian binary32 in C order (format versions 1 to 3). Throws InputError that names the
/// file and what is wrong with it.
NpyArray read_npy(const std::string& path);

struct IntegerNpyArray {
    std::vector<std::size_t> shape;
    std::vector<std::int32_t> values;
};
/// Reads an array of int8 (dtype |i1) or of little-endian int32 (dtype <i4). Throws InputError for another dtype and
/// for a file that is no .npy file or has another number of bytes than its shape requires.
IntegerNpyArray read_int8_npy(const std::string& path);
IntegerNpyArray read_int32_npy(const std::string& path);

/// Behind the first dimension, dimensions of one count for nothing.
bool same_shape(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b);
/// Throws InputError "file: shape: expected (128, 10), found (0, 10)" for an array of another shape.
void check_shape(const std::string& path, const std::vector<std::size_t>& shape,
                 const std::vector<std::size_t>& expected);

/// A .npy file of format version 1, and write_file() of it.
std::string npy_bytes(const NpyArray& array);
void write_npy(const NpyArray& array, const std::string& path);

}  // namespace switchyard::platform
