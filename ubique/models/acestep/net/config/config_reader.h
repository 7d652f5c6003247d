// SPDX-License-Identifier: Apache-2.0
// Reads sizes, numbers and lists of a config.json within bounds that keep every product of sizes
// small enough.
#pragma once

#include <string>
#include <vector>

#include "ubique/models/acestep/net/config/config.h"

namespace ubique::acestep {

class ConfigReader {
 public:
  /// Input error unless `json` is an object. Both must outlive this.
  ConfigReader(const Json& json, const std::string& where);

  const std::string& where() const { return where_; }
  // Each leaves the value alone where the key is absent or null, and is an Input error for another
  // type or a value out of range; sizes are 1 to 1048576.
  void size(const char* key, std::int64_t& value) const;
  void number(const char* key, double& value) const;  ///< above 0
  void sizes(const char* key, Sizes& value, std::int64_t least = 1) const;
  void lists(const char* key, std::vector<Sizes>& value) const;
  void words(const char* key, std::vector<std::string>& value) const;
  /// Input error unless the key is absent or has this value.
  void must_be(const char* key, const Json& expected) const;
  [[noreturn]] void refuse(const char* key, const std::string& expected) const;

 private:
  const Json* find(const char* key) const;

  const Json& json_;
  const std::string& where_;
};

}  // namespace ubique::acestep
