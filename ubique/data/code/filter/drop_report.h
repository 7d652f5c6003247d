// SPDX-License-Identifier: Apache-2.0
// What was left out or changed, why, how often, with examples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json_fwd.h"
#include "ubique/data/code/token_documents.h"

namespace ubique::data {

class DropReport {
 public:
  void drop(std::string_view reason, const DocumentInfo& info, std::int64_t count = 1);
  /// Kept, but changed: a secret replaced, broken UTF-8 repaired.
  void change(std::string_view what, const DocumentInfo& info, std::int64_t count = 1);

  /// Counts and examples of another one behind its own.
  void add(const DropReport& other);

  std::int64_t dropped() const;
  Json counts() const;       ///< reason -> number of dropped documents
  Json json() const;         ///< both, with examples
  std::string text() const;  ///< a table for people

 private:
  struct Reason {
    std::int64_t count = 0;
    std::vector<std::string> examples;
  };
  using Reasons = std::map<std::string, Reason, std::less<>>;
  static void add_reasons(Reasons& reasons, const Reasons& more);
  static void count_in(Reasons& reasons, std::string_view name, const DocumentInfo& info,
                       std::int64_t count);

  Reasons dropped_, changed_;
};

}  // namespace ubique::data
