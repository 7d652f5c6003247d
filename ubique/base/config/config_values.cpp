// SPDX-License-Identifier: Apache-2.0
// One ValueRule per type: how it is parsed and how messages describe it.
#include "ubique/base/config/config_values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique {
namespace {

/// How one element type is parsed, and the words for messages.
template <typename T>
struct ValueRule;

template <>
struct ValueRule<std::string> {
  static constexpr const char* kOne = "text";
  static constexpr const char* kMany = "a list of texts";
  static constexpr const char* kExample = "e.g. name";
  static constexpr const char* kExamples = "e.g. [a, b]";
  static std::optional<std::string> read(const std::string& text) { return text; }
};

template <>
struct ValueRule<bool> {
  static constexpr const char* kOne = "true or false";
  static constexpr const char* kExample = "true, false, yes, no, on or off";
  static std::optional<bool> read(const std::string& text) {
    const auto word = lowercase(text);
    if (word == "true" || word == "yes" || word == "on") return true;
    if (word == "false" || word == "no" || word == "off") return false;
    return std::nullopt;
  }
};

template <>
struct ValueRule<double> {
  static constexpr const char* kOne = "a number";
  static constexpr const char* kMany = "a list of numbers";
  static constexpr const char* kExample = "e.g. 0.001";
  static constexpr const char* kExamples = "e.g. [0.9, 0.999]";
  static std::optional<double> read(const std::string& text) {
    const auto word = lowercase(text);
    if (word == ".inf" || word == "+.inf") return std::numeric_limits<double>::infinity();
    if (word == "-.inf") return -std::numeric_limits<double>::infinity();
    return parse_number(text);
  }
};

template <>
struct ValueRule<std::int64_t> {
  static constexpr const char* kOne = "a whole number";
  static constexpr const char* kMany = "a list of whole numbers";
  static constexpr const char* kExample = "e.g. 8";
  static constexpr const char* kExamples = "e.g. [8, 16]";
  static std::optional<std::int64_t> read(const std::string& text) {
    // from_chars knows no plus sign, and must not be given the minus of "+-1".
    const bool plus = text.starts_with('+') && !text.starts_with("+-");
    const auto digits = std::string_view(text).substr(plus ? 1 : 0);
    std::int64_t value = 0;
    const auto end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end) return value;
    // "1e3" and "2.0" are whole numbers too, up to where a double is exact.
    const auto number = parse_number(text);
    const bool whole = number && std::trunc(*number) == *number && std::abs(*number) <= 0x1p53;
    return whole ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
  }
};

template <>
struct ValueRule<int> : ValueRule<std::int64_t> {
  static constexpr const char* kExample = "e.g. 8, within 32 bits";
  static std::optional<int> read(const std::string& text) {
    const auto wide = ValueRule<std::int64_t>::read(text);
    const bool fits = wide && *wide >= std::numeric_limits<int>::min() &&
                      *wide <= std::numeric_limits<int>::max();
    return fits ? std::optional(static_cast<int>(*wide)) : std::nullopt;
  }
};

[[noreturn]] void fail_value(const RawValue& raw, const std::string& key, const YamlNode& found,
                             const char* what, const char* example) {
  fail(ErrorKind::Usage, "[base.config] {}: {} must be {}; got {}, expected {}.", raw.source, key,
       what, found.describe(), example);
}

std::vector<YamlNode> one_line_items(const std::string& text) {
  std::string_view inside = trim(text);
  if (inside.size() >= 2 && inside.front() == '[' && inside.back() == ']') {
    inside = inside.substr(1, inside.size() - 2);
  }
  std::vector<YamlNode> items;
  for (auto& part : split(inside, ',')) {
    items.push_back({YamlNode::Kind::Scalar, 0, std::move(part), {}, {}});
  }
  return items;
}

template <typename T>
struct IsList {
  static constexpr bool value = false;
  using Element = T;
};
template <typename T>
struct IsList<std::vector<T>> {
  static constexpr bool value = true;
  using Element = T;
};

template <typename T>
std::vector<T> convert_list(const RawValue& raw, const std::string& key) {
  using Rule = ValueRule<T>;
  // One number is a list of one; a text may be several whose brackets were forgotten.
  if constexpr (!std::is_same_v<T, std::string>) {
    const bool single = !raw.one_line && raw.node.kind == YamlNode::Kind::Scalar;
    if (const auto value = single ? Rule::read(raw.node.text) : std::nullopt) return {*value};
  }
  if (!raw.one_line && raw.node.kind != YamlNode::Kind::List) {
    fail_value(raw, key, raw.node, Rule::kMany, Rule::kExamples);
  }
  std::vector<T> values;
  const auto items = raw.one_line ? one_line_items(raw.node.text) : raw.node.items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::optional<T> value;
    if (items[i].kind == YamlNode::Kind::Scalar) value = Rule::read(items[i].text);
    if (!value)
      fail_value(raw, fmt::format("{}[{}]", key, i), items[i], Rule::kOne, Rule::kExample);
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace

template <typename T>
T convert_value(const RawValue& raw, const std::string& key) {
  if constexpr (IsList<T>::value) {
    return convert_list<typename IsList<T>::Element>(raw, key);
  } else {
    std::optional<T> value;
    if (raw.node.kind == YamlNode::Kind::Scalar) value = ValueRule<T>::read(raw.node.text);
    if (!value) fail_value(raw, key, raw.node, ValueRule<T>::kOne, ValueRule<T>::kExample);
    return std::move(*value);
  }
}

std::int64_t convert_bytes(const RawValue& raw, const std::string& key) {
  std::optional<std::int64_t> bytes;
  if (raw.node.kind == YamlNode::Kind::Scalar) {
    bytes = ValueRule<std::int64_t>::read(raw.node.text);
    if (!bytes) bytes = parse_bytes(raw.node.text);
  }
  if (!bytes || *bytes < 0) fail_value(raw, key, raw.node, "a number of bytes", "e.g. 16GiB");
  return *bytes;
}

template <typename T>
std::string expected_value() {
  using Rule = ValueRule<typename IsList<T>::Element>;
  if constexpr (IsList<T>::value) {
    return fmt::format("{}, {}", Rule::kMany, Rule::kExamples);
  } else {
    return fmt::format("{}, {}", Rule::kOne, Rule::kExample);
  }
}

std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(int value) { return fmt::format("{}", value); }
std::string value_text(std::int64_t value) { return fmt::format("{}", value); }
std::string value_text(double value) { return fmt::format("{}", value); }
std::string value_text(const std::string& value) { return value; }

#define UBIQUE_CONFIG_VALUE(T)                                      \
  template T convert_value<T>(const RawValue&, const std::string&); \
  template std::string expected_value<T>();
UBIQUE_CONFIG_VALUE(bool)
UBIQUE_CONFIG_VALUE(int)
UBIQUE_CONFIG_VALUE(std::int64_t)
UBIQUE_CONFIG_VALUE(double)
UBIQUE_CONFIG_VALUE(std::string)
UBIQUE_CONFIG_VALUE(std::vector<std::string>)
UBIQUE_CONFIG_VALUE(std::vector<std::int64_t>)
UBIQUE_CONFIG_VALUE(std::vector<double>)
#undef UBIQUE_CONFIG_VALUE

}  // namespace ubique
