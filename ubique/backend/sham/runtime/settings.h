// SPDX-License-Identifier: Apache-2.0
// Settings of the device (what it refuses, its planted faults, its memory), read from the
// environment variable UBIQUE_<NAME> when the device is first used. README.md lists the keys.
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
  std::set<c10::ScalarType> refused_dtypes;  ///< in addition to float64 and complex
  std::set<std::string> refused_ops;         ///< "aten::cumsum", every overload
  std::set<std::string> wrong;               ///< names in the table of mutations.cpp
  std::set<std::string> wrong_ops;           ///< "aten::mm": all results falsified
  std::set<std::string> fallback_ops;        ///< run normally, counted as fallbacks in the ledger
  std::int64_t memory = 0;                   ///< limit in bytes; 0 = the machine's memory
  std::int64_t max_buffer = 1LL << 32;       ///< a single buffer must be smaller
  std::chrono::microseconds delay{0};        ///< waited before each op
  std::string ledger;                        ///< file for every op and its count; empty = none

  /// Mutations by op, from `wrong` and `wrong_ops`.
  std::unordered_multimap<std::string, const Mutation*> mutations;

  bool is_wrong(const std::string& name) const { return wrong.count(name) != 0; }
};

/// Parses "refuse=bf16; wrong=cumsum", or a YAML file with the same keys (@FILE, or a path that
/// ends in .yaml). Usage error with a suggestion for unknown words.
Settings parse_settings(const std::string& text);

/// "UBIQUE_SHAM" for the folder sham.
std::string settings_variable();

/// The current settings; defaults until set.
const Settings& settings();
/// Replaces them for the whole process. Old settings stay alive, since other threads may read them.
void set_settings(Settings next);

}  // namespace ubique::backend::sham
