// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchyard {

/// Largest file of each kind that is read. More is taken for a mistake before it fills the memory.
inline constexpr std::uint64_t kMaxTextBytes = std::uint64_t{16} << 20;        ///< YAML
inline constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{256} << 20;       ///< profiles
inline constexpr std::uint64_t kMaxLineBytes = std::uint64_t{64} << 20;        ///< of traces and request logs
inline constexpr std::uint64_t kMaxImageBytes = (std::uint64_t{4} << 30) - 1;  ///< IMAGE_BYTES has 32 bits
inline constexpr std::uint64_t kMaxArrayBytes = std::uint64_t{16} << 30;       ///< .npy

/// A file or a pipe for reading. Throws InputError if there is none, and for directories and devices, which may never
/// end.
std::ifstream open_input(const std::string& path);

/// All of a file or a pipe. Throws InputError: what open_input() refuses, more than `max_bytes`, a read that fails.
std::string read_file(const std::string& path, std::uint64_t max_bytes);
std::vector<std::uint8_t> read_bytes(const std::string& path, std::uint64_t max_bytes);

/// The next line of `file` without its end, false at the end of the file. Throws InputError that names `path` and the
/// line `number` for a line of more than kMaxLineBytes and for a read that fails.
bool read_line(std::istream& file, std::string& line, const std::string& path, int number);

/// A file that is written beside its name (`path`.part) and takes it in commit(): whoever reads `path` has the old file
/// or the new one, whole. What is not committed is removed. A `path` that is no regular file, such as /dev/stdout or a
/// pipe, is written as it is; through a symbolic link its target is replaced.
///
/// All functions throw InputError with the path and the system's reason if the file cannot be written.
class OutputFile {
public:
    explicit OutputFile(const std::string& path);
    ~OutputFile();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// For contents that come bit by bit. Errors wait for close().
    std::ostream& stream() { return file_; }
    void write(std::string_view bytes);
    /// All has been written; the name is still the old file's.
    void close();
    /// close() and take the name.
    void commit();

private:
    [[noreturn]] void fail() const;

    std::string path_, target_, part_;  ///< as given; what it stands for; empty: written as it is
    std::ofstream file_;
    bool open_ = false;
};

void write_file(std::string_view bytes, const std::string& path);

/// Makes the folder of the file if there is none. Throws InputError that names the file.
void make_folder_of(const std::string& path);

/// Path and contents of files that belong together.
using FileContents = std::vector<std::pair<std::string, std::string>>;
/// Writes them all before the first takes its name, in their order: if one cannot be written, all old files stay. Makes
/// their folders.
void write_files(const FileContents& files);

}  // namespace switchyard
