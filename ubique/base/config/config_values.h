// SPDX-License-Identifier: Apache-2.0
// Conversion between text and typed values; errors name source, key, what was found and what was
// expected. Internal to config.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/text/yaml.h"

namespace ubique {

/// A value as found, before its conversion to a type.
struct RawValue {
  YamlNode node;
  std::string source;     ///< "flag", "environment UBIQUE_X", "FILE:LINE"
  bool one_line = false;  ///< from a flag or the environment: a list is "a, b" or "[a, b]"
};

/// T as in Config::get. Usage error naming source, key, what was found and what was expected.
template <typename T>
T convert_value(const RawValue& raw, const std::string& key);
std::int64_t convert_bytes(const RawValue& raw, const std::string& key);

/// "a number", "true or false": how messages describe a T.
template <typename T>
std::string expected_value();

std::string value_text(bool value);
std::string value_text(int value);
std::string value_text(std::int64_t value);
std::string value_text(double value);
std::string value_text(const std::string& value);
template <typename T>
std::string value_text(const std::vector<T>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + value_text(value);
  return "[" + text + "]";
}

}  // namespace ubique
