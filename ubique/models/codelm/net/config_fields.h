// SPDX-License-Identifier: Apache-2.0
// Typed access to the fields of a config.json, with errors that name the file and the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"

namespace ubique::codelm {

/// Largest size that a field may state; products of a few of these still fit in 64 bits.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 20;

class ConfigFields {
 public:
  /// Input error unless `json` is an object. Both must outlive this.
  ConfigFields(const Json& json, const std::string& where);

  const std::string& where() const { return where_; }
  bool has(const char* key) const;  ///< present and not null
  /// The value, or the fallback where the key is absent or null. Input error for another type or a
  /// size out of range.
  std::int64_t size(const char* key, std::int64_t fallback) const;
  double number(const char* key, double fallback) const;
  bool flag(const char* key, bool fallback) const;
  std::string text(const char* key, const std::string& fallback) const;
  std::vector<std::int32_t> tokens(const char* key) const;  ///< one id or a list of ids
  std::vector<std::string> words(const char* key) const;
  /// A nested object; an empty one where it is absent.
  ConfigFields section(const char* key) const;

 private:
  const Json* find(const char* key) const;
  [[noreturn]] void fail_type(const char* key, const Json& value, const char* expected) const;

  const Json& json_;
  const std::string& where_;
};

}  // namespace ubique::codelm
