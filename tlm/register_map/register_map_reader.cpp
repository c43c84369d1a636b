// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "switchyard/sw_scheduler/base/config.h"
#include "switchyard/sw_scheduler/base/plain_number.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/suggestion.h"
#include "switchyard/tlm/register_map/register_map.h"

namespace switchyard::register_map {

namespace {

constexpr std::uint64_t kWord = 4;

/// A mapping of the file: each key that is asked for is known, every other is an error.
class Mapping {
public:
    Mapping(const YAML::Node& node, int line, std::string source, std::string name)
        : line_(line), source_(std::move(source)), name_(std::move(name)) {
        if (!node.IsMap()) fail_at(line_, name_, "expected a mapping of keys, found " + kind_of(node));
        for (const auto& item : node) {
            const std::string key = item.first.IsScalar() ? item.first.Scalar() : "";
            if (key.empty())
                fail_at(line_of(item.first), name_, "expected text as a key, found " + kind_of(item.first));
            if (find(key)) fail_at(line_of(item.first), full(key), "expected the key once, found it twice");
            items_.push_back({key, line_of(item.first), item.second});
        }
    }

    struct Item {
        std::string key;
        int line;
        YAML::Node value;
    };
    const std::vector<Item>& items() const { return items_; }

    bool has(const std::string& key) {
        known_.insert(key);
        return find(key) != nullptr;
    }
    std::string text(const std::string& key) {
        const Item& item = get(key);
        if (!item.value.IsScalar() || item.value.Scalar().empty())
            fail(key, "expected text, found " + kind_of(item.value));
        return item.value.Scalar();
    }
    std::string text_or_nothing(const std::string& key) { return has(key) ? text(key) : std::string(); }
    std::string one_of(const std::string& key, const std::vector<std::string>& choices) {
        std::string value = text(key);
        if (std::find(choices.begin(), choices.end(), value) == choices.end())
            fail(key, fmt::format("expected one of {}, found \"{}\"", fmt::join(choices, ", "), value));
        return value;
    }
    /// Decimal, or hexadecimal behind 0x.
    std::uint64_t number(const std::string& key, std::uint64_t largest) {
        const std::string value = text(key);
        return parse(key, value, largest);
    }
    std::uint64_t parse(const std::string& key, const std::string& value, std::uint64_t largest) {
        std::uint64_t number = 0;
        if (parse_address(value, number) != Parsed::ok)
            fail(key, fmt::format("expected a number, found \"{}\"", value));
        if (number > largest) fail(key, fmt::format("expected at most {:#x}, found {}", largest, value));
        return number;
    }
    Mapping mapping(const std::string& key) {
        const Item& item = get(key);
        return {item.value, item.line, source_, full(key)};
    }
    Mapping mapping(const Item& item) const { return {item.value, item.line, source_, full(item.key)}; }

    /// Of a key that is there, or of the mapping itself.
    [[noreturn]] void fail(const std::string& key, const std::string& message) {
        const Item* const item = find(key);
        fail_at(item ? item->line : line_, full(key), message);
    }
    [[noreturn]] void fail(const std::string& message) const { fail_at(line_, name_, message); }
    void finish() const {
        for (const Item& item : items_) {
            if (known_.count(item.key) == 0)
                fail_at(item.line, full(item.key), not_one_of(item.key, {known_.begin(), known_.end()}));
        }
    }

private:
    const Item* find(const std::string& key) const {
        const auto found =
            std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.key == key; });
        return found == items_.end() ? nullptr : &*found;
    }
    const Item& get(const std::string& key) {
        if (!has(key)) fail(key, "expected a value, found nothing");
        return *find(key);
    }
    std::string full(const std::string& key) const { return name_.empty() ? key : name_ + "." + key; }
    [[noreturn]] void fail_at(int line, const std::string& key, const std::string& message) const {
        throw InputError(source_, line, key, message);
    }

    int line_;
    std::string source_, name_;
    std::vector<Item> items_;
    std::set<std::string> known_;
};

void check_name(const Mapping& owner, const std::string& name, bool upper) {
    const bool good = std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
                      std::all_of(name.begin(), name.end(), [upper](unsigned char c) {
                          return c == '_' || std::isdigit(c) != 0 || (upper ? std::isupper(c) : std::islower(c)) != 0;
                      });
    if (!good)
        owner.fail(fmt::format("expected a name of {} letters, digits and underscores, found {}",
                               upper ? "capital" : "small", shown(name)));
}

/// "3" or "15:0", as data sheets write it.
void read_bits(Mapping& mapping, Field& field) {
    const std::string bits = mapping.text("bits");
    const std::size_t colon = bits.find(':');
    const auto high = static_cast<unsigned>(mapping.parse("bits", bits.substr(0, colon), 31));
    field.lsb =
        colon == std::string::npos ? high : static_cast<unsigned>(mapping.parse("bits", bits.substr(colon + 1), 31));
    if (field.lsb > high) mapping.fail("bits", fmt::format("expected HIGH:LOW, found {}", bits));
    field.bits = high - field.lsb + 1;
}

std::vector<Field> read_fields(Mapping& mapping) {
    std::vector<Field> fields;
    Mapping list = mapping.mapping("fields");
    for (const Mapping::Item& item : list.items()) {
        Mapping entry = list.mapping(item);
        Field field;
        field.name = item.key;
        check_name(entry, field.name, true);
        read_bits(entry, field);
        field.text = entry.text("text");
        entry.finish();
        for (const Field& other : fields) {
            if ((other.mask() & field.mask()) != 0)
                entry.fail("bits", fmt::format("expected bits that {} does not have, found {}", other.name,
                                               entry.text("bits")));
        }
        fields.push_back(std::move(field));
    }
    std::sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.lsb < b.lsb; });
    return fields;
}

Register read_register(Mapping mapping, const std::string& name, std::uint64_t register_bytes) {
    check_name(mapping, name, true);
    Register result;
    result.name = name;
    result.offset = mapping.number("offset", register_bytes - kWord);
    if (result.offset % kWord != 0)
        mapping.fail("offset", fmt::format("expected a multiple of 4, found {:#x}", result.offset));
    result.access = mapping.one_of("access", {"ro", "rw", "wo", "w1c", "rc"});
    result.text = mapping.text("text");
    result.prefix = mapping.text_or_nothing("prefix");
    if (mapping.has("fields")) result.fields = read_fields(mapping);
    result.reset = 0;
    if (mapping.has("reset")) {
        if (mapping.text("reset") == "configured")
            result.reset.reset();
        else
            result.reset = static_cast<std::uint32_t>(mapping.number("reset", 0xFFFFFFFF));
    }
    result.constant = mapping.has("constant") && mapping.one_of("constant", {"true", "false"}) == "true";
    if (!result.reset) result.constant = true;
    if (result.constant && result.access != "ro")
        mapping.fail("access", "expected ro for a constant, found " + result.access);
    if ((result.reset.value_or(0) & ~result.mask()) != 0)
        mapping.fail("reset", fmt::format("expected bits of the fields, {:#010x}, found {:#010x}", result.mask(),
                                          *result.reset));
    if (result.access == "wo" && result.reset != 0u)
        mapping.fail("reset", "expected 0, as a write-only register reads as zero, found " + mapping.text("reset"));
    mapping.finish();
    return result;
}

Window read_window(Mapping mapping, const std::string& name) {
    constexpr std::uint64_t kLast = 0xFFFF'FFFF;
    check_name(mapping, name, true);
    Window window;
    window.name = name;
    window.offset = mapping.number("offset", kLast);
    window.bytes = mapping.number("bytes", kLast);
    if (window.bytes == 0 || window.offset % kWord != 0 || window.bytes % kWord != 0)
        mapping.fail("bytes", fmt::format("expected whole words of 4 bytes, found {:#x} bytes at {:#x}", window.bytes,
                                          window.offset));
    window.access = mapping.one_of("access", {"ro", "rw"});
    window.debug_only = mapping.has("debug_only") && mapping.one_of("debug_only", {"true", "false"}) == "true";
    window.text = mapping.text("text");
    mapping.finish();
    return window;
}

ErrorCode read_error(Mapping mapping, const std::string& name) {
    check_name(mapping, name, false);
    ErrorCode error;
    error.name = name;
    error.code = static_cast<std::uint32_t>(mapping.number("code", 0xFFFFFFFF));
    error.text = mapping.text("text");
    error.info = mapping.text_or_nothing("info");
    mapping.finish();
    return error;
}

/// Two things of one list must not share what `same` compares; each is read from an item of `list`.
template <class T, class Read, class Same>
std::vector<T> read_list(const Mapping& list, Read&& read, const char* key, Same&& same) {
    std::vector<T> all;
    for (const Mapping::Item& item : list.items()) {
        Mapping entry = list.mapping(item);
        T one = read(entry, item.key);
        for (const T& other : all) {
            if (same(one, other))
                entry.fail(key, fmt::format("expected no overlap with {}, found {}", other.name, entry.text(key)));
        }
        all.push_back(std::move(one));
    }
    return all;
}

/// Fields become constants named after their prefix: two of the same name must be the same bits.
void check_constants(const RegisterMap& map, const Mapping& registers) {
    std::map<std::string, std::uint32_t> constants;
    for (const Register& r : map.registers) constants.emplace(camel_case(r.name), 0);
    for (const Mapping::Item& item : registers.items()) {
        const auto owner = std::find_if(map.registers.begin(), map.registers.end(),
                                        [&](const Register& r) { return r.name == item.key; });
        for (const Field& field : owner->fields) {
            const std::string name = camel_case(owner->prefix) + camel_case(field.name);
            if (const auto [entry, added] = constants.emplace(name, field.mask());
                !added && entry->second != field.mask())
                registers.mapping(item).fail(fmt::format(
                    "expected one constant k{} in C++, found {:#x} and {:#x} of field {}; give the register a "
                    "prefix",
                    name, entry->second, field.mask(), field.name));
        }
    }
}

template <class T>
void sort_by_offset(std::vector<T>& all) {
    std::sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.offset < b.offset; });
}

RegisterMap read(const YAML::Node& node, const std::string& source) {
    Mapping file(node, 1, source, "");
    RegisterMap map;
    map.name = file.text("name");
    map.title = file.text("title");
    map.text = file.text("text");
    map.vendor = file.text("vendor");
    map.library = file.text("library");
    map.version = file.text("version");
    map.register_bytes = file.number("register_bytes", 0xFFFF'FFFC);
    if (map.register_bytes == 0 || map.register_bytes % kWord != 0)
        file.fail("register_bytes", fmt::format("expected whole words of 4 bytes, found {} bytes", map.register_bytes));
    const Mapping registers = file.mapping("registers");
    map.registers = read_list<Register>(
        registers,
        [&](const Mapping& m, const std::string& name) { return read_register(m, name, map.register_bytes); }, "offset",
        [](const Register& a, const Register& b) { return a.offset == b.offset; });
    check_constants(map, registers);
    if (file.has("windows")) {
        const auto overlap = [](const Window& a, const Window& b) {
            return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
        };
        map.windows = read_list<Window>(
            file.mapping("windows"),
            [&](Mapping m, const std::string& name) {
                Window window = read_window(m, name);
                if (window.offset < map.register_bytes)
                    m.fail("offset", fmt::format("expected {:#x} or more, the end of the registers, found {:#x}",
                                                 map.register_bytes, window.offset));
                return window;
            },
            "offset", overlap);
    }
    if (file.has("errors"))
        map.errors = read_list<ErrorCode>(file.mapping("errors"), read_error, "code",
                                          [](const ErrorCode& a, const ErrorCode& b) { return a.code == b.code; });
    file.finish();
    sort_by_offset(map.registers);
    sort_by_offset(map.windows);
    std::sort(map.errors.begin(), map.errors.end(),
              [](const ErrorCode& a, const ErrorCode& b) { return a.code < b.code; });
    return map;
}

}  // namespace

std::uint32_t Register::mask() const {
    std::uint32_t mask = fields.empty() ? 0xFFFFFFFF : 0;
    for (const Field& field : fields) mask |= field.mask();
    return mask;
}

std::uint32_t Register::writable() const {
    return access == "ro" || access == "rc" ? 0 : mask();
}

std::uint64_t RegisterMap::address_span() const {
    std::uint64_t end = register_bytes, span = 1;
    for (const Window& window : windows) end = std::max(end, window.offset + window.bytes);
    while (span < end) span *= 2;
    return span;
}

std::string camel_case(const std::string& name) {
    std::string result;
    bool capital = true;
    for (const char c : name) {
        if (c != '_') result += static_cast<char>(capital ? std::toupper(c) : std::tolower(c));
        capital = c == '_';
    }
    return result;
}

RegisterMap read_register_map(const std::string& path) {
    return read(load_yaml(path), path);
}

RegisterMap parse_register_map(const std::string& text, const std::string& source) {
    return read(parse_yaml(text, source), source);
}

}  // namespace switchyard::register_map
