// SPDX-License-Identifier: Apache-2.0
#include "switchyard/testbenches/integration/vp/elf_file.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace switchyard::testing {

namespace {

template <class T>
T record_at(const std::vector<char>& file, std::size_t offset, const std::string& path) {
    T record;
    if (offset > file.size() || file.size() - offset < sizeof record) throw std::runtime_error(path + ": truncated");
    std::memcpy(&record, file.data() + offset, sizeof record);
    return record;
}

}  // namespace

ElfFile read_elf(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) throw std::runtime_error(path + ": cannot be read");
    const auto header = record_at<Elf32_Ehdr>(file, 0, path);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS32 ||
        header.e_machine != EM_RISCV)
        throw std::runtime_error(path + ": not a 32-bit RISC-V executable");
    ElfFile elf;
    elf.entry = header.e_entry;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        const auto segment = record_at<Elf32_Phdr>(file, header.e_phoff + i * sizeof(Elf32_Phdr), path);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
        if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset)
            throw std::runtime_error(path + ": truncated");
        const auto begin = file.begin() + segment.p_offset;
        std::vector<std::uint8_t> bytes(begin, begin + segment.p_filesz);
        bytes.resize(segment.p_memsz, 0);
        elf.segments.push_back({segment.p_paddr, std::move(bytes)});
    }
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const auto table = record_at<Elf32_Shdr>(file, header.e_shoff + i * sizeof(Elf32_Shdr), path);
        if (table.sh_type != SHT_SYMTAB) continue;
        const auto names = record_at<Elf32_Shdr>(file, header.e_shoff + table.sh_link * sizeof(Elf32_Shdr), path);
        for (std::uint32_t at = 0; at < table.sh_size; at += sizeof(Elf32_Sym)) {
            const auto symbol = record_at<Elf32_Sym>(file, table.sh_offset + at, path);
            const std::size_t name = names.sh_offset + symbol.st_name;
            if (name < file.size()) elf.symbols[std::string(file.data() + name)] = symbol.st_value;
        }
    }
    return elf;
}

}  // namespace switchyard::testing
