// SPDX-License-Identifier: Apache-2.0
// Checks of types and ranges in a config.json.
#include "ubique/models/codelm/net/config_fields.h"

#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"

namespace ubique::codelm {

ConfigFields::ConfigFields(const Json& json, const std::string& where)
    : json_(json), where_(where) {
  check(json.is_object(), ErrorKind::Input,
        "[codelm.config] {}: expected an object with the model's settings.", where);
}

const Json* ConfigFields::find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigFields::fail_type(const char* key, const Json& value, const char* expected) const {
  fail(ErrorKind::Input, "[codelm.config] {}: {} is {}, expected {}.", where_, key,
       printable(json_text(value)), expected);
}

bool ConfigFields::has(const char* key) const { return find(key) != nullptr; }

std::int64_t ConfigFields::size(const char* key, std::int64_t fallback) const {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  const bool fits = value->is_number_integer() && value->get<double>() >= 0 &&
                    value->get<double>() <= static_cast<double>(kLargestSize);
  if (!fits) fail_type(key, *value, "a whole number from 0 to 1048576");
  return value->get<std::int64_t>();
}

double ConfigFields::number(const char* key, double fallback) const {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    fail_type(key, *value, "a number");
  }
  return value->get<double>();
}

bool ConfigFields::flag(const char* key, bool fallback) const {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) fail_type(key, *value, "true or false");
  return value->get<bool>();
}

std::string ConfigFields::text(const char* key, const std::string& fallback) const {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_string()) fail_type(key, *value, "a text");
  return value->get<std::string>();
}

std::vector<std::int32_t> ConfigFields::tokens(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) return {};
  std::vector<std::int32_t> ids;
  for (const auto& id : value->is_array() ? *value : Json::array({*value})) {
    const bool fits = id.is_number_integer() && id.get<double>() >= 0 &&
                      id.get<double>() <= std::numeric_limits<std::int32_t>::max();
    if (!fits) fail_type(key, *value, "a token id or a list of them");
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

std::vector<std::string> ConfigFields::words(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) fail_type(key, *value, "a list of texts");
  std::vector<std::string> words;
  for (const auto& word : *value) {
    if (!word.is_string()) fail_type(key, *value, "a list of texts");
    words.push_back(word.get<std::string>());
  }
  return words;
}

ConfigFields ConfigFields::section(const char* key) const {
  static const Json kEmpty = Json::object();
  const auto* value = find(key);
  return {value == nullptr ? kEmpty : *value, where_};
}

}  // namespace ubique::codelm
