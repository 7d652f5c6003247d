// SPDX-License-Identifier: Apache-2.0
// Checks of types and ranges in a config.json.
#include "ubique/models/acestep/net/config/config_reader.h"

#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"

namespace ubique::acestep {
namespace {

constexpr double kLargestSize = 1 << 20;
constexpr std::size_t kLongestList = 64;

bool is_size(const Json& value, std::int64_t least) {
  return value.is_number_integer() && value.get<double>() >= static_cast<double>(least) &&
         value.get<double>() <= kLargestSize;
}

bool is_size_list(const Json& value, std::int64_t least) {
  if (!value.is_array() || value.size() > kLongestList) return false;
  for (const auto& item : value) {
    if (!is_size(item, least)) return false;
  }
  return true;
}

}  // namespace

ConfigReader::ConfigReader(const Json& json, const std::string& where)
    : json_(json), where_(where) {
  check(json.is_object(), ErrorKind::Input,
        "[acestep.config] {}: got {}, expected an object with the network's settings.", where,
        json.type_name());
}

const Json* ConfigReader::find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigReader::refuse(const char* key, const std::string& expected) const {
  const auto* value = find(key);
  fail(ErrorKind::Input, "[acestep.config] {}: {} is {}, expected {}.", where_, key,
       value == nullptr ? "missing" : printable(json_text(*value)), expected);
}

void ConfigReader::size(const char* key, std::int64_t& value) const {
  const auto* found = find(key);
  if (found == nullptr) return;
  if (!is_size(*found, 1)) refuse(key, "a whole number from 1 to 1048576");
  value = found->get<std::int64_t>();
}

void ConfigReader::number(const char* key, double& value) const {
  const auto* found = find(key);
  if (found == nullptr) return;
  const bool fits =
      found->is_number() && std::isfinite(found->get<double>()) && found->get<double>() > 0;
  if (!fits) refuse(key, "a number above 0");
  value = found->get<double>();
}

void ConfigReader::sizes(const char* key, Sizes& value, std::int64_t least) const {
  const auto* found = find(key);
  if (found == nullptr) return;
  if (!is_size_list(*found, least)) refuse(key, "a list of at most 64 sizes");
  value = found->get<Sizes>();
}

void ConfigReader::lists(const char* key, std::vector<Sizes>& value) const {
  const auto* found = find(key);
  if (found == nullptr) return;
  bool fits = found->is_array() && found->size() <= kLongestList;
  for (std::size_t i = 0; fits && i < found->size(); ++i) fits = is_size_list((*found)[i], 1);
  if (!fits) refuse(key, "a list of lists of sizes");
  value = found->get<std::vector<Sizes>>();
}

void ConfigReader::words(const char* key, std::vector<std::string>& value) const {
  const auto* found = find(key);
  if (found == nullptr) return;
  bool fits = found->is_array() && found->size() <= kLongestList;
  for (std::size_t i = 0; fits && i < found->size(); ++i) fits = (*found)[i].is_string();
  if (!fits) refuse(key, "a list of texts");
  value = found->get<std::vector<std::string>>();
}

void ConfigReader::must_be(const char* key, const Json& expected) const {
  const auto* found = find(key);
  if (found != nullptr && *found != expected) refuse(key, json_text(expected));
}

}  // namespace ubique::acestep
