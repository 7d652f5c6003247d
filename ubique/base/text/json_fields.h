// SPDX-License-Identifier: Apache-2.0
// One object of a file's JSON read key by key: what cannot be read is named, and so is what nobody
// asked for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"

namespace ubique {

/// Takes the keys of one object out, one by one; what is left at the end nobody knows.
class JsonFields {
 public:
  /// `place` begins the messages ("meshnet.config"), `where` is the file. Input error for anything
  /// but an object.
  JsonFields(const Json& json, std::string place, std::string where)
      : place_(std::move(place)), where_(std::move(where)) {
    check(json.is_object(), ErrorKind::Input,
          "[{}] {} is not a configuration; got {}, expected an object.", place_, where_,
          json.type_name());
    for (const auto& [key, value] : json.items()) fields_[key] = value;
  }

  /// Leaves `value` alone if the key is missing.
  template <typename T>
  void take(const std::string& key, T& value) {
    known_.push_back(key);
    const auto found = fields_.find(key);
    if (found == fields_.end()) return;
    try {
      value = found->second.get<T>();
    } catch (const Json::exception&) {
      fail(ErrorKind::Input, "[{}] {}: '{}' cannot be read; got {}.", place_, where_, key,
           found->second.dump());
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
      fail(ErrorKind::Input, "[{}] {}: '{}': {}", place_, where_, key, error.what());
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
    fail(ErrorKind::Input, "[{}] {}: unknown key '{}'.{}", place_, where_, key, hint(key, known_));
  }

 private:
  std::string place_, where_;
  std::map<std::string, Json> fields_;
  std::vector<std::string> known_;
};

}  // namespace ubique
