// SPDX-License-Identifier: Apache-2.0
// Ranks note how much they did; rank 0 sees the notes about a second later.
#include "ubique/engine/ranks/rank_progress.h"

#include <algorithm>
#include <iostream>
#include <numeric>
#include <utility>

namespace ubique::engine {
namespace {

Progress::Options own_options(Progress::Options options, const dist::World& world) {
  if (!world.is_first()) options.style = ProgressStyle::Silent;
  return options;
}

}  // namespace

RankProgress::RankProgress(const Progress::Options& options, const dist::World& world)
    : world_(world),
      shared_(!world.is_alone() && options.style != ProgressStyle::Silent),
      bar_(own_options(options, world), std::cerr),
      total_(options.total) {
  if (!shared_) return;
  own_before_ = world.steps()[static_cast<std::size_t>(world.rank())];
  all_before_ = noted_by_all();
}

std::int64_t RankProgress::noted_by_all() const {
  const auto steps = world_.steps();
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

void RankProgress::advance(std::int64_t steps, std::string note) {
  if (!shared_) return bar_.advance(steps, std::move(note));
  const std::scoped_lock lock(mutex_);
  done_ += steps;
  world_.note_step(own_before_ + done_);
  show(noted_by_all() - all_before_, std::move(note));
}

void RankProgress::show(std::int64_t done, std::string note) {
  const auto now = std::clamp(done, shown_, std::max(shown_, total_));
  bar_.advance(now - std::exchange(shown_, now), std::move(note));
}

void RankProgress::finish() {
  if (shared_) {
    world_.while_waiting([this] { show(noted_by_all() - all_before_); });
    std::int64_t done = 0;
    for (const auto& count : world_.gather(std::to_string(done_))) done += std::stoll(count);
    world_.while_waiting({});
    show(done);
  }
  bar_.finish();
}

}  // namespace ubique::engine
