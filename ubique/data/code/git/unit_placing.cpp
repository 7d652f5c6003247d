// SPDX-License-Identifier: Apache-2.0
// Units go over in batches: threads that wait for each other after every commit lose much time.
#include "ubique/data/code/git/unit_placing.h"

#include <memory>
#include <utility>

namespace ubique::data {
namespace {

constexpr std::size_t kBatchTokens = 1U << 16U;

}  // namespace

UnitPlacing::UnitPlacing(DocumentFilter& filter, CodeSetWriter& writer)
    : filter_(filter), writer_(writer), workers_([this](Units&& units) { place(units); }, 1) {}

void UnitPlacing::push(Unit&& unit) {
  if (unit.empty()) return;
  for (const auto& document : unit) tokens_ += document.ids.size();
  units_.push_back(std::move(unit));
  if (tokens_ > kBatchTokens) push_batch();
}

void UnitPlacing::push_batch() {
  const auto units = std::make_shared<Units>(std::exchange(units_, {}));
  tokens_ = 0;
  workers_.push([units] { return std::move(*units); });
}

void UnitPlacing::place(Units& units) {
  for (auto& unit : units) {
    for (const auto& placed : filter_.place(std::move(unit))) {
      writer_.add(placed.val ? kValSplit : kTrainSplit, placed.document);
      ++documents_;
    }
  }
}

std::int64_t UnitPlacing::finish() {
  push_batch();
  workers_.finish();
  return documents_;
}

}  // namespace ubique::data
