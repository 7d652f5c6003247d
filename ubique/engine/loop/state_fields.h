// SPDX-License-Identifier: Apache-2.0
// Reads the trainer state of a checkpoint, which may be a stranger's file: every value has its type
// and range checked before it is used.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// No run makes more updates, epochs or seconds; doubles count up to it exactly, and sums and
/// products with a batch size stay far from overflow.
constexpr std::int64_t kMostCounted = 1LL << 40U;
constexpr std::int64_t kMostBatch = 1LL << 31U;  ///< samples per update
constexpr double kLargestF32 = std::numeric_limits<float>::max();

/// One object of the state. Input errors name the field, what was got and what was expected.
class StateFields {
 public:
  /// `state` must outlive this; `prefix` ("schedule.") begins the names in messages. Input error
  /// for anything but an object.
  explicit StateFields(const Json& state, std::string prefix = {});

  bool has(const std::string& key) const;  ///< present and not null
  bool flag(const std::string& key) const;
  std::string text(const std::string& key) const;
  std::uint64_t seed(const std::string& key) const;
  std::int64_t whole(const std::string& key, std::int64_t least, std::int64_t most) const;
  /// Finite.
  double number(const std::string& key, double least, double most) const;
  /// NaN for null, which stands for every non-finite number.
  double number_or_nan(const std::string& key, double largest) const;
  std::optional<double> optional_number(const std::string& key) const;
  Scores scores(const std::string& key) const;
  /// Nothing for null or a missing key.
  std::optional<StateFields> object(const std::string& key) const;

 private:
  const Json& at(const std::string& key) const;
  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

  const Json* state_;
  std::string prefix_;
};

}  // namespace ubique::engine
