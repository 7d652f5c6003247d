// SPDX-License-Identifier: Apache-2.0
// Builds the tree from the library's events: its own reader searches an ordered object from the
// start for every key it adds (40 s for a vocabulary of 150,000 words), silently keeps the last of
// two equal keys, and has no depth limit, although copying and writing recurse.
#include "ubique/base/text/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ubique/base/error.h"

namespace ubique {
namespace {

constexpr std::size_t kMaxJsonDepth = 128;

std::string json_position(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto start = before.rfind('\n');  // npos + 1 is 0: the first line
  return fmt::format("line {} column {}", line, before.size() - (start + 1) + 1);
}

// Without what the library quotes from the text, which may not be printable.
std::string json_reason(const std::string& message) {
  const auto at = message.find(" column ");
  const auto bracket = message.find("] ");
  const auto colon = at == std::string::npos ? at : message.find(": ", at);
  auto start = bracket == std::string::npos ? 0 : bracket + 2;
  if (colon != std::string::npos) start = colon + 2;
  constexpr std::size_t kLongest = 120;  // a number out of range is quoted with all its digits
  return message.substr(start, std::min(message.find("; last read", start) - start, kLongest));
}

class JsonTreeBuilder : public nlohmann::json_sax<Json> {
 public:
  JsonTreeBuilder(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Json take_root() { return std::move(root_); }

  bool null() override { return attach(nullptr); }
  bool boolean(bool value) override { return attach(value); }
  bool number_integer(Json::number_integer_t value) override { return attach(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return attach(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) override {
    return attach(value);
  }
  bool string(std::string& value) override { return attach(std::move(value)); }
  bool binary(Json::binary_t& value) override { return attach(std::move(value)); }
  bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& frame = stack_.back();
    check(frame.seen.insert(name).second, ErrorKind::Input,
          "[base.json] {} has the key {} twice in one object; expected it once.", where_,
          Json(name).dump(-1, ' ', true, Json::error_handler_t::replace));
    frame.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last*/,
                   const nlohmann::detail::exception& error) override {
    fail(ErrorKind::Input, "[base.json] {} is not JSON; {}: {}.", where_,
         json_position(text_, position > 0 ? position - 1 : 0), json_reason(error.what()));
  }

 private:
  struct Frame {
    Json node;
    std::string key;  // read, but not its value yet
    std::unordered_set<std::string> seen;
  };

  bool open(Json node) {
    check(stack_.size() < kMaxJsonDepth, ErrorKind::Input,
          "[base.json] {} is nested too deeply; expected at most {} levels.", where_,
          kMaxJsonDepth);
    stack_.push_back({std::move(node), {}, {}});
    return true;
  }

  bool close() {
    Json node = std::move(stack_.back().node);
    stack_.pop_back();
    return attach(std::move(node));
  }

  bool attach(Json value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (auto& frame = stack_.back(); frame.node.is_array()) {
      frame.node.get_ref<Json::array_t&>().push_back(std::move(value));
    } else {
      // An ordered object is a list: appending avoids its linear search. key() refused duplicates.
      frame.node.get_ref<Json::object_t&>().emplace_back(frame.key, std::move(value));
    }
    return true;
  }

  std::string_view text_;
  std::string where_;
  Json root_;
  std::vector<Frame> stack_;
};

/// JSON may hold them as they are, but terminals take U+009B for the start of a command.
std::string escape_c1_controls(const std::string& text) {
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == 0x7FU) {
      safe += "\\u007f";
    } else if (byte == 0xC2U && next < 0xA0U) {
      safe += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  JsonTreeBuilder builder(text, where);
  Json::sax_parse(text, &builder);
  return builder.take_root();
}

std::string json_text(const Json& document, int indent) {
  return escape_c1_controls(
      document.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

Json json_document(std::string_view name, int version) {
  return {{"schema", fmt::format("ubique.{}", name)}, {"schema_version", version}};
}

}  // namespace ubique
