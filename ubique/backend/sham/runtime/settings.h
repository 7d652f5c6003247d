// SPDX-License-Identifier: Apache-2.0
// What the device is told to refuse and to get wrong: read from the environment variable
// UBIQUE_<NAME> when the device is first asked for. README.md lists the words.
#pragma once

#include <c10/core/ScalarType.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ubique::backend::sham {

struct Mutation;

struct Settings {
  std::set<c10::ScalarType> refused_dtypes;  ///< besides float64 and complex
  std::set<std::string> refused_ops;         ///< "aten::cumsum", every overload
  std::set<std::string> wrong;               ///< names of the table in mutations.cpp
  std::set<std::string> wrong_ops;           ///< "aten::mm": results bent, whatever they are
  std::set<std::string> fallback_ops;        ///< run as ever, counted as fallbacks in the ledger
  std::int64_t memory = 0;                   ///< bytes that may be allocated; 0 = the machine's
  std::int64_t max_buffer = 1LL << 32;       ///< one buffer must be smaller
  std::chrono::microseconds delay{0};        ///< spent before each op

  /// Mutations by the op that they change; filled from `wrong` and `wrong_ops`.
  std::unordered_multimap<std::string, const Mutation*> mutations;

  bool is_wrong(const std::string& name) const { return wrong.count(name) != 0; }
};

/// Reads "refuse=bf16; wrong=cumsum" or, after an @ or as a path that ends in .yaml, a file with
/// the same keys. Usage error with a "did you mean" for anything it does not know.
Settings parse_settings(const std::string& text);

/// "UBIQUE_SHAM" for the folder sham.
std::string settings_variable();

/// What holds now; the defaults until set.
const Settings& settings();
/// Replaces it for the whole process. Old settings are kept alive: another thread may read them.
void set_settings(Settings next);

}  // namespace ubique::backend::sham
