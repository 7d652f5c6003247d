// SPDX-License-Identifier: Apache-2.0
// Types and ranges of the trainer state's fields.
#include "ubique/engine/loop/state_fields.h"

#include <cmath>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"

namespace ubique::engine {
namespace {

constexpr double kLargestF64 = std::numeric_limits<double>::max();

/// What a field holds, short enough for a message.
std::string field_text(const Json& value) {
  constexpr std::size_t kLongest = 60;
  if (value.is_structured()) return fmt::format("an {}", value.type_name());
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

bool is_finite_number(const Json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

}  // namespace

StateFields::StateFields(const Json& state, std::string prefix)
    : state_(&state), prefix_(std::move(prefix)) {
  check(state.is_object(), ErrorKind::Input,
        "[engine.resume] the checkpoint has no trainer state{}; got {}, expected an object. Start "
        "from it with --model instead.",
        prefix_.empty() ? "" : fmt::format(" '{}'", prefix_.substr(0, prefix_.size() - 1)),
        field_text(state));
}

void StateFields::refuse(const std::string& key, const std::string& expected) const {
  const auto found = state_->find(key);
  fail(ErrorKind::Input,
       "[engine.resume] the checkpoint's trainer state has a wrong '{}{}'; got {}, expected {}. "
       "Start from it with --model instead.",
       prefix_, key, found == state_->end() ? "none" : field_text(*found), expected);
}

const Json& StateFields::at(const std::string& key) const {
  const auto found = state_->find(key);
  if (found == state_->end()) refuse(key, "a value");
  return *found;
}

bool StateFields::has(const std::string& key) const {
  const auto found = state_->find(key);
  return found != state_->end() && !found->is_null();
}

bool StateFields::flag(const std::string& key) const {
  const auto& value = at(key);
  if (!value.is_boolean()) refuse(key, "true or false");
  return value.get<bool>();
}

std::string StateFields::text(const std::string& key) const {
  const auto& value = at(key);
  if (!value.is_string()) refuse(key, "a text");
  return value.get<std::string>();
}

std::uint64_t StateFields::seed(const std::string& key) const {
  const auto& value = at(key);
  const bool natural =
      value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
  if (!natural) refuse(key, "a whole number from 0");
  return value.get<std::uint64_t>();
}

std::int64_t StateFields::whole(const std::string& key, std::int64_t least,
                                std::int64_t most) const {
  const auto& value = at(key);
  // An unsigned number above 2^63 would become negative: compared before it is converted.
  const bool large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  const auto in_range = [&](std::int64_t number) { return number >= least && number <= most; };
  if (!value.is_number_integer() || large || !in_range(value.get<std::int64_t>())) {
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
  }
  return value.get<std::int64_t>();
}

double StateFields::number(const std::string& key, double least, double most) const {
  const auto& value = at(key);
  if (!is_finite_number(value) || value.get<double>() < least || value.get<double>() > most) {
    refuse(key, fmt::format("a number from {:.4g} to {:.4g}", least, most));
  }
  return value.get<double>();
}

double StateFields::number_or_nan(const std::string& key, double largest) const {
  if (at(key).is_null()) return std::numeric_limits<double>::quiet_NaN();
  return number(key, -largest, largest);
}

std::optional<double> StateFields::optional_number(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  return number(key, -kLargestF64, kLargestF64);
}

Scores StateFields::scores(const std::string& key) const {
  const auto& value = at(key);
  if (!value.is_object()) refuse(key, "an object of scores");
  const StateFields fields(value, prefix_ + key + ".");
  Scores scores;
  for (const auto& [name, score] : value.items()) {
    scores.emplace_back(name, fields.number_or_nan(name, kLargestF64));
  }
  return scores;
}

std::optional<StateFields> StateFields::object(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  if (!at(key).is_object()) refuse(key, "an object or null");
  return StateFields(at(key), prefix_ + key + ".");
}

}  // namespace ubique::engine
