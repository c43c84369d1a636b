// SPDX-License-Identifier: Apache-2.0
#include "switchyard/sw_scheduler/base/yaml_check.h"

#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "switchyard/sw_scheduler/base/error.h"
#include "switchyard/sw_scheduler/base/shown.h"
#include "switchyard/sw_scheduler/base/text_check.h"

namespace switchyard {

namespace {

/// What is wrong, in words that a reader of the file understands; yaml-cpp's own name its states.
std::string meaning_of(const std::string& message) {
    static const std::pair<std::string_view, const char*> kMeanings[] = {
        {YAML::ErrorMsg::END_OF_MAP_FLOW, "a { without }"},
        {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a [ without ]"},
        {YAML::ErrorMsg::END_OF_MAP, "no key here; check the indentation"},
        {YAML::ErrorMsg::END_OF_SEQ, "no - here; check the indentation"},
        {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab that indents the line; use spaces"},
        {YAML::ErrorMsg::MAP_VALUE, "a colon here; put the text in quotes or check the indentation"},
        {YAML::ErrorMsg::BLOCK_ENTRY, "a - here; check the indentation"},
        {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote that is not closed"},
        {YAML::ErrorMsg::FLOW_END, "a ] or } without [ or {"},
        {YAML::ErrorMsg::UNKNOWN_ANCHOR, "an alias without anchor"},
        {YAML::ErrorMsg::INVALID_ESCAPE, "an unknown letter behind a backslash; put the text in single quotes"},
    };
    for (const auto& [begin, meaning] : kMeanings)
        if (message.compare(0, begin.size(), begin) == 0) return meaning;
    return "a mistake; check quotes, brackets, colons and indentation";
}

class DocumentCheck : public YAML::EventHandler {
public:
    explicit DocumentCheck(const std::string& file) : file_(file) {}

    void OnDocumentStart(const YAML::Mark& /*mark*/) override { ++documents_; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { scalar(mark, anchor, ""); }
    void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  const std::string& value) override {
        scalar(mark, anchor, value);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = sizes_.find(anchor);
        if (found == sizes_.end())
            fail(mark, "expected an alias of another node, found one within the node that it stands for");
        add(mark, found->second);
        end_node();
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        open(mark, anchor, false);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        open(mark, anchor, true);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

private:
    /// A mapping or a list whose end has not come.
    struct Level {
        bool mapping;
        YAML::anchor_t anchor;
        std::size_t before;  ///< nodes
        bool at_key;         ///< of a mapping: what comes next
        std::string key;
        std::set<std::string> keys;
    };

    [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
        std::string place;
        for (const Level& level : levels_)
            if (!level.key.empty()) place += (place.empty() ? "" : ".") + level.key;
        throw InputError(file_, mark.is_null() ? 0 : mark.line + 1, place, message);
    }
    void add(const YAML::Mark& mark, std::size_t nodes) {
        if (documents_ > 1) fail(mark, "expected one YAML document, found a second");
        nodes_ += nodes;
        if (nodes_ > kMaxYamlNodes)
            fail(mark, fmt::format("expected at most {} values, aliases included, found more", kMaxYamlNodes));
    }
    void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& value) {
        add(mark, 1);
        if (anchor != 0) sizes_[anchor] = 1;
        if (!levels_.empty() && levels_.back().mapping && levels_.back().at_key) {
            Level& level = levels_.back();
            level.key = value.find('\n') == std::string::npos ? value : "";
            if (!level.keys.insert(value).second) fail(mark, "expected the key once, found it twice");
        }
        end_node();
    }
    void open(const YAML::Mark& mark, YAML::anchor_t anchor, bool mapping) {
        add(mark, 1);
        if (levels_.size() == static_cast<std::size_t>(kMaxDepth))
            fail(mark, fmt::format("expected at most {} lists and mappings within each other, found more", kMaxDepth));
        levels_.push_back({mapping, anchor, nodes_ - 1, mapping, "", {}});
    }
    void close() {
        const Level& level = levels_.back();
        if (level.anchor != 0) sizes_[level.anchor] = nodes_ - level.before;
        levels_.pop_back();
        end_node();
    }
    void end_node() {
        if (levels_.empty()) return;
        Level& level = levels_.back();
        if (!level.mapping) return;
        if (!level.at_key) level.key.clear();
        level.at_key = !level.at_key;
    }

    const std::string& file_;
    int documents_ = 0;
    std::size_t nodes_ = 0;
    std::vector<Level> levels_;
    std::map<YAML::anchor_t, std::size_t> sizes_;  ///< of what has an anchor and has ended
};

}  // namespace

std::string plain_yaml(const std::string& text, const std::string& file) {
    const bool marked = text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0;
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = marked ? kByteOrderMark.size() : 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7F || c == 0xFF || c == 0xFE)
            throw InputError(file, line_of_byte(text, i), "",
                             fmt::format("expected YAML in UTF-8, found {} at byte {}",
                                         c == 0 ? "a NUL byte" : fmt::format("byte {:#04x}", c), i + 1));
        plain.push_back(text[i]);
    }
    return plain;
}

namespace {

void parse(const std::string& text, YAML::EventHandler& handler) {
    std::istringstream input(text);
    YAML::Parser parser(input);
    while (parser.HandleNextDocument(handler)) {
    }
}

}  // namespace

void check_yaml(const std::string& text, const std::string& file) {
    try {
        DocumentCheck check(file);
        parse(text, check);
    } catch (const YAML::Exception& error) {
        throw InputError(file, error.mark.is_null() ? 0 : error.mark.line + 1, "",
                         "expected YAML, found " + meaning_of(error.msg));
    }
    if (text.find_first_of("'\"") == std::string::npos) return;
    // yaml-cpp closes a quote at the end of the file. An end of the document within quotes it refuses.
    try {
        DocumentCheck check(file);
        parse(text + "\n...\n", check);
    } catch (const YAML::Exception&) {
        throw InputError(file, 0, "", "expected YAML, found a quote that is not closed before the end of the file");
    }
}

}  // namespace switchyard
