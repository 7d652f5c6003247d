// SPDX-License-Identifier: Apache-2.0
// Enum values and their names: one table per enum, used for printing and for parsing.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"

namespace ubique {

template <typename Value, std::size_t Count>
using NameTable = std::array<std::pair<Value, std::string_view>, Count>;

template <typename Value, std::size_t Count>
std::string_view name_of(const NameTable<Value, Count>& table, Value value) {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  fail(ErrorKind::Internal, "[base.names] no name for value {}.", static_cast<int>(value));
}

/// Usage error "[TAG] unknown WHAT; got 'x', expected one of a, b." with a "did you mean".
template <typename Value, std::size_t Count>
Value parse_name(const NameTable<Value, Count>& table, std::string_view tag, std::string_view what,
                 std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [value, name] : table) {
    if (text == name) return value;
    known.emplace_back(name);
  }
  fail(ErrorKind::Usage, "[{}] unknown {}; got '{}', expected one of {}.{}", tag, what, text,
       join(known, ", "), hint(text, known));
}

}  // namespace ubique
