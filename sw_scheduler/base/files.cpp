// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/files.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>
#include <map>

#include <fmt/format.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/read_files.h"
#include "switchyard/sw_scheduler/base/replaceable.h"

namespace switchyard {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail_to(const char* what, const std::string& path, int reason) {
    throw InputError(path, 0, "", reason == 0 ? what : fmt::format("{}: {}", what, std::strerror(reason)));
}

template <class Bytes>
Bytes read_all(const std::string& path, std::uint64_t max_bytes) {
    std::ifstream file = open_input(path);
    Bytes bytes;
    constexpr std::size_t kChunk = std::size_t{1} << 20;
    std::error_code error;
    const std::uintmax_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
    const auto refuse_above = [&](std::uint64_t found, const char* more) {
        if (found > max_bytes)
            throw InputError(path, 0, "", fmt::format("expected at most {} bytes, found {}{}", max_bytes, found, more));
    };
    if (!error) refuse_above(size, "");
    for (std::size_t filled = 0;;) {
        bytes.resize(filled + (size > filled ? static_cast<std::size_t>(size - filled) + 1 : kChunk));
        errno = 0;
        file.read(reinterpret_cast<char*>(bytes.data()) + filled, static_cast<std::streamsize>(bytes.size() - filled));
        filled += static_cast<std::size_t>(file.gcount());
        if (file.bad()) fail_to("cannot be read", path, errno);
        refuse_above(filled, " or more");
        if (!file) {
            bytes.resize(filled);
            return bytes;
        }
    }
}

std::ifstream open_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) fail_to("cannot be read", path, errno);
    return file;
}

/// A file in memory with all that a pipe has: its writer writes it once, however often a program reads it.
std::string pipe_contents(const std::string& path) {
    static std::map<std::pair<dev_t, ino_t>, std::string> known;
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) fail_to("cannot be read", path, errno);
    std::string& contents = known[{status.st_dev, status.st_ino}];
    if (!contents.empty()) return contents;
    std::ifstream pipe = open_file(path);
    const int copy = memfd_create("pipe", MFD_CLOEXEC);  // until the process ends
    if (copy < 0) fail_to("cannot be kept in memory", path, errno);
    std::vector<char> chunk(std::size_t{1} << 20);
    for (std::uint64_t bytes = 0;;) {
        errno = 0;
        pipe.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
        if (pipe.bad()) fail_to("cannot be read", path, errno);
        const auto got = static_cast<std::size_t>(pipe.gcount());
        bytes += got;
        if (bytes > kMaxImageBytes)
            throw InputError(path, 0, "",
                             fmt::format("expected at most {} bytes of a pipe, found more", kMaxImageBytes));
        for (std::size_t at = 0; at < got;) {
            const ssize_t written = ::write(copy, chunk.data() + at, got - at);
            if (written < 0) fail_to("cannot be kept in memory", path, errno);
            at += static_cast<std::size_t>(written);
        }
        if (!pipe) break;
    }
    return contents = fmt::format("/proc/self/fd/{}", copy);
}

}  // namespace

std::ifstream open_input(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) fail_to("cannot be read", path, error.value());
    if (fs::is_directory(status)) throw InputError(path, 0, "", "expected a file, found a directory");
    if (!fs::is_regular_file(status) && !fs::is_fifo(status))
        throw InputError(path, 0, "", "expected a file or a pipe, found neither");
    ReadFiles::note(path);
    return open_file(fs::is_fifo(status) ? pipe_contents(path) : path);
}

std::string read_file(const std::string& path, std::uint64_t max_bytes) {
    return read_all<std::string>(path, max_bytes);
}

std::vector<std::uint8_t> read_bytes(const std::string& path, std::uint64_t max_bytes) {
    return read_all<std::vector<std::uint8_t>>(path, max_bytes);
}

bool read_line(std::istream& file, std::string& line, const std::string& path, int number) {
    line.clear();
    std::streambuf& buffer = *file.rdbuf();
    errno = 0;
    try {
        for (;;) {
            const int next = buffer.sbumpc();
            if (next == std::streambuf::traits_type::eof()) {
                file.setstate(std::ios::eofbit);
                return !line.empty();
            }
            if (next == '\n') return true;
            if (line.size() == kMaxLineBytes)
                throw InputError(path, number, "",
                                 fmt::format("expected at most {} bytes in the line, found more", kMaxLineBytes));
            line.push_back(static_cast<char>(next));
        }
    } catch (const std::ios_base::failure&) {  // of the buffer, whose text says nothing to a user
        fail_to("cannot be read", path, errno);
    }
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(path) {
    std::error_code error;
    if (fs::is_symlink(target_, error)) {
        const fs::path followed = fs::canonical(target_, error);
        if (!error) target_ = followed;
    }
    const fs::file_status status = fs::status(target_, error);
    const bool replaces = !fs::exists(status) || fs::is_regular_file(status);
    if (fs::is_directory(status)) fail_to("cannot be written", path_, EISDIR);
    if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) fail();
    if (replaces) {
        check_replaceable(path_);
        part_ = target_ + ".part";
    }
    errno = 0;
    file_.open(replaces ? part_ : target_, std::ios::binary);
    if (!file_) {
        part_.clear();
        fail();
    }
    open_ = true;
    if (replaces && fs::exists(status)) fs::permissions(part_, status.permissions(), error);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      file_(std::move(other.file_)),
      open_(std::exchange(other.open_, false)) {}

OutputFile::~OutputFile() {
    std::error_code ignored;
    if (!part_.empty()) fs::remove(part_, ignored);
}

void OutputFile::fail() const {
    fail_to("cannot be written", path_, errno);
}

void OutputFile::write(std::string_view bytes) {
    errno = 0;
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file_) fail();
}

void OutputFile::close() {
    if (!open_) return;
    open_ = false;
    errno = 0;
    const bool failed = !file_;
    if (failed) file_.clear();  // trying once more brings back the reason
    file_.flush();
    if (failed || !file_) fail();
    file_.close();
    if (!file_) fail();
}

void OutputFile::commit() {
    close();
    if (part_.empty()) return;
    std::error_code error;
    fs::rename(part_, target_, error);
    if (error) fail_to("cannot be written", path_, error.value());
    part_.clear();
}

void write_file(std::string_view bytes, const std::string& path) {
    OutputFile file(path);
    file.write(bytes);
    file.commit();
}

void make_folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return;
    fs::create_directories(folder, error);
    if (error) fail_to("cannot be written", path, error.value());
}

void write_files(const FileContents& files) {
    std::vector<OutputFile> written;
    written.reserve(files.size());
    for (const auto& [path, bytes] : files) {
        make_folder_of(path);
        written.emplace_back(path);
        written.back().write(bytes);
        written.back().close();
    }
    for (OutputFile& file : written) file.commit();
}

}  // namespace switchyard
