// SPDX-License-Identifier: Apache-2.0
// Reads the keys of one JSON object one by one. Errors name values of the wrong type and unknown
// keys.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

namespace ubique {

/// Whether a number such as 1e300, which JSON may have anywhere, is within the integers of T.
template <typename T>
bool is_in_range(const Json& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!value.is_number_float()) return true;
    const auto number = value.get<double>();
    return number >= static_cast<double>(std::numeric_limits<T>::min()) &&
           number < std::ldexp(1.0, std::numeric_limits<T>::digits);
  }
  return true;
}

/// take() removes a key from the object; finish() refuses the keys that are left.
class JsonFields {
 public:
  /// `tag` begins the messages ("meshnet.config"), `where` is the file. Input error for anything
  /// but an object.
  JsonFields(const Json& json, std::string tag, std::string where)
      : tag_(std::move(tag)), where_(std::move(where)) {
    check(json.is_object(), ErrorKind::Input,
          "[{}] {} is not a configuration; got {}, expected an object.", tag_, where_,
          json.type_name());
    for (const auto& [key, value] : json.items()) fields_[key] = value;
  }

  /// Leaves `value` alone if the key is missing.
  template <typename T>
  void take(const std::string& key, T& value) {
    known_.push_back(key);
    const auto found = fields_.find(key);
    if (found == fields_.end()) return;
    bool is_read = is_in_range<T>(found->second);
    try {
      if (is_read) value = found->second.get<T>();
    } catch (const Json::exception&) {
      is_read = false;
    }
    if (!is_read) {
      fail(ErrorKind::Input, "[{}] {}: '{}' cannot be read; got {}.", tag_, where_, key,
           json_text(found->second));
    }
    fields_.erase(found);
  }

  /// A text that `parse` turns into the value; its error becomes one about this file.
  template <typename T>
  void take_name(const std::string& key, T& value,
                 const std::function<T(std::string_view)>& parse) {
    std::string text;
    take(key, text);
    if (text.empty()) return;
    try {
      value = parse(text);
    } catch (const Error& error) {
      fail(ErrorKind::Input, "[{}] {}: '{}': {}", tag_, where_, key, error.what());
    }
  }

  Json take_json(const std::string& key) {
    Json value;
    take(key, value);
    return value;
  }

  /// Input error, with a "did you mean", for a key that was not taken.
  void finish() const {
    if (fields_.empty()) return;
    const auto& key = fields_.begin()->first;
    fail(ErrorKind::Input, "[{}] {}: unknown key '{}'.{}", tag_, where_, key, hint(key, known_));
  }

 private:
  std::string tag_, where_;
  std::map<std::string, Json> fields_;
  std::vector<std::string> known_;
};

}  // namespace ubique
