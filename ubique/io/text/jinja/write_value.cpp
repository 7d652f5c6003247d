// SPDX-License-Identifier: Apache-2.0
// Python's str(), repr() and json.dumps().
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ubique/base/text/utf8.h"
#include "ubique/io/text/jinja/fault.h"
#include "ubique/io/text/jinja/value.h"

namespace ubique::io::jinja {
namespace {

/// Characters that repr() escapes beside the quotes; an approximation of Python's table beyond
/// Latin-1, where it follows the category of each character.
bool is_hidden(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point <= 0xA0) || point == 0xAD ||
         (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202F) ||
         (point >= 0xE000 && point <= 0xF8FF) || point == 0xFEFF;
}

void add_escape(std::string& out, char32_t point) {
  if (point == '\n') {
    out += "\\n";
  } else if (point == '\r') {
    out += "\\r";
  } else if (point == '\t') {
    out += "\\t";
  } else if (point <= 0xFF) {
    out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point));
  } else {
    out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point));
  }
}

TracedText repr_of_text(const TracedText& text) {
  const auto& bytes = text.bytes();
  const bool single = bytes.find('\'') == std::string::npos;
  const char quote = single || bytes.find('"') != std::string::npos ? '\'' : '"';
  std::string out(1, quote);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto point = code_point_at(bytes, at);
    if (point.value == static_cast<char32_t>(quote) || point.value == U'\\') out += '\\';
    if (point.valid && is_hidden(point.value)) {
      add_escape(out, point.value);
    } else {
      out += bytes.substr(at, point.length);
    }
    at += point.length;
  }
  return text.derived(out + quote);
}

void add_repr(const Value& value, TracedText& out) {
  if (const auto* text = value.text()) return out.append(repr_of_text(*text));
  if (const auto* list = value.items()) {
    out.append(list->tuple ? "(" : "[");
    for (std::size_t i = 0; i < list->values.size(); ++i) {
      if (i > 0) out.append(", ");
      add_repr(list->values[i], out);
    }
    if (list->tuple && list->values.size() == 1) out.append(",");
    return out.append(list->tuple ? ")" : "]");
  }
  if (const auto* dict = value.dict()) {
    out.append("{");
    for (std::size_t i = 0; i < dict->entries.size(); ++i) {
      if (i > 0) out.append(", ");
      out.append(repr_of_text(dict->entries[i].first));
      out.append(": ");
      add_repr(dict->entries[i].second, out);
    }
    return out.append("}");
  }
  if (value.is_missing()) return out.append("Undefined");
  out.append(printed(value));
}

class JsonText {
 public:
  explicit JsonText(const JsonStyle& style) : style_(style) {}

  void add(const Value& value, std::int64_t level) {
    if (const auto* yes = value.as<bool>()) {
      out_ += *yes ? "true" : "false";
    } else if (const auto* real = value.as<double>()) {
      out_ += std::isnan(*real) ? "NaN" : std::isinf(*real) ? infinity(*real) : float_text(*real);
    } else if (value.integer()) {
      out_ += fmt::format("{}", *value.integer());
    } else if (value.is_none()) {
      out_ += "null";
    } else if (const auto* text = value.text()) {
      add_text(*text);
    } else if (const auto* list = value.items()) {
      add_list(list->values, level);
    } else {
      need(value.dict() != nullptr, "{} cannot be written as JSON.", value.type());
      add_dict(*value.dict(), level);
    }
  }

  TracedText text() { return given_.derived(std::move(out_)); }

 private:
  static std::string infinity(double value) { return value > 0 ? "Infinity" : "-Infinity"; }

  void add_list(const std::vector<Value>& values, std::int64_t level) {
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      separate(i, level + 1);
      add(values[i], level + 1);
    }
    if (!values.empty()) new_line(level);
    out_ += ']';
  }

  void add_dict(const Dict& dict, std::int64_t level) {
    std::vector<const std::pair<TracedText, Value>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [](const auto* left, const auto* right) {
        return left->first.bytes() < right->first.bytes();
      });
    }
    out_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      separate(i, level + 1);
      add_text(entries[i]->first);
      out_ += style_.after_key;
      add(entries[i]->second, level + 1);
    }
    if (!entries.empty()) new_line(level);
    out_ += '}';
  }

  void separate(std::size_t index, std::int64_t level) {
    if (index > 0) out_ += style_.between_items;
    new_line(level);
  }

  void new_line(std::int64_t level) {
    if (style_.indent < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(level * style_.indent), ' ');
  }

  void add_text(const TracedText& text) {
    if (given_.spans().empty() && !text.spans().empty()) given_ = text.slice(0, text.size());
    out_ += '"';
    const auto& bytes = text.bytes();
    for (std::size_t at = 0; at < bytes.size();) {
      const auto point = code_point_at(bytes, at);
      add_character(point.value, bytes.substr(at, point.length));
      at += point.length;
    }
    out_ += '"';
  }

  void add_character(char32_t point, const std::string& bytes) {
    const auto code = static_cast<std::uint32_t>(point);
    if (point == '"' || point == '\\') {
      out_ += '\\';
      out_ += bytes;
    } else if (point == '\n' || point == '\r' || point == '\t') {
      add_escape(out_, point);
    } else if (point == '\b' || point == '\f') {
      out_ += point == '\b' ? "\\b" : "\\f";
    } else if (point < 0x20 || (style_.ascii && point >= 0x7F && point < 0x10000)) {
      out_ += point == 0x7F ? bytes : fmt::format("\\u{:04x}", code);
    } else if (style_.ascii && point >= 0x10000) {
      const auto rest = code - 0x10000U;
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (rest >> 10U), 0xDC00U + (rest & 0x3FFU));
    } else {
      out_ += bytes;
    }
  }

  JsonStyle style_;
  std::string out_;
  TracedText given_;  // the first text with given bytes
};

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const auto size = std::abs(value);
  if (size == 0 || (size >= 1e-4 && size < 1e16)) {
    auto text = fmt::format("{:.17g}", value);
    for (int digits = 1; digits <= 17; ++digits) {
      text = fmt::format("{:.{}g}", value, digits);
      if (std::strtod(text.c_str(), nullptr) == value) break;
    }
    if (text.find('e') != std::string::npos) text = fmt::format("{:.0f}", value);
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }
  return fmt::format("{}", value);
}

TracedText printed(const Value& value) {
  if (const auto* text = value.text()) return *text;
  if (value.is_missing()) return {};
  if (value.is_none()) return TracedText("None");
  if (const auto* yes = value.as<bool>()) return TracedText(*yes ? "True" : "False");
  if (const auto* real = value.as<double>()) return TracedText(float_text(*real));
  if (value.integer()) return TracedText(fmt::format("{}", *value.integer()));
  if (value.as<SpacePtr>() != nullptr) return TracedText("<Namespace>");
  if (const auto* function = value.as<FunctionPtr>()) {
    return TracedText("<function " + (*function)->name + ">");
  }
  TracedText out;
  add_repr(value, out);
  return out;
}

TracedText json_of(const Value& value, const JsonStyle& style) {
  JsonText json(style);
  json.add(value, 0);
  return json.text();
}

}  // namespace ubique::io::jinja
