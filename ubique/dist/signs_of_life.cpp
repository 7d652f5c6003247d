// SPDX-License-Identifier: Apache-2.0
// Notes of a second each, and what can be concluded from them.
#include "ubique/dist/signs_of_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

namespace ubique::dist {
namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenNotes = 500ms;
constexpr double kMissedNotes = 4;  // seconds: several notes that did not come

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

/// Silence is counted in looks, not by the clock: a machine that slept must not take the others for
/// lost when it wakes.
double seconds_of(std::int64_t looks) {
  return static_cast<double>(looks) * std::chrono::duration<double>(kBetweenNotes).count();
}

std::string beat_key(int rank) { return fmt::format("beat/{}", rank); }
std::string farewell_key(int rank) { return fmt::format("farewell/{}", rank); }

}  // namespace

SignsOfLife::SignsOfLife(int rank, int size, double silence, Notes notes)
    : rank_(rank), size_(size), silence_(silence), notes_(std::move(notes)), seen_(size) {
  watcher_ = std::thread([this] {
    watch();
    ended_ = true;
  });
  watcher_of_watcher_ = std::thread([this] { watch_watcher(); });
}

SignsOfLife::~SignsOfLife() {
  ending_ = true;
  watcher_.join();
  watcher_of_watcher_.join();
}

bool SignsOfLife::finish(std::chrono::milliseconds time) {
  ending_ = true;
  for (const auto begin = Clock::now(); !ended_ && Clock::now() - begin < time;) {
    std::this_thread::sleep_for(20ms);
  }
  return ended_;
}

/// Behind a cut cable an answer of the store may not come for a quarter of an hour, and no error.
void SignsOfLife::watch_watcher() {
  for (std::int64_t before = -1; !ending_;) {
    const std::int64_t looks = looks_;
    waits_ = std::exchange(before, looks) == looks ? waits_ + 1 : 0;
    std::this_thread::sleep_for(kBetweenNotes);
  }
}

void SignsOfLife::watch() {
  for (std::int64_t count = 0; !ending_; ++count) {
    try {
      notes_.put(beat_key(rank_), fmt::format("{} {} {}", count, step_.load(), exchanges_.load()));
      std::optional<std::string> leaving;
      {
        const std::scoped_lock lock(mutex_);
        leaving.swap(leaving_);
      }
      if (leaving) notes_.put(farewell_key(rank_), *leaving);
      for (int other = 0; other < size_; ++other) {
        if (other != rank_) look_at(other);
      }
      ++looks_;
    } catch (const std::exception&) {  // whoever keeps the store is gone, and with it all notes
      store_lost_ = true;
      return;
    }
    std::this_thread::sleep_for(kBetweenNotes);
  }
}

void SignsOfLife::look_at(int rank) {
  const auto note = notes_.look(beat_key(rank));
  const auto farewell = notes_.look(farewell_key(rank));
  const std::scoped_lock lock(mutex_);
  auto& seen = seen_[rank];
  seen.farewell = farewell;
  ++seen.missed;
  if (!note || *note == seen.note) return;
  seen.note = *note;
  seen.missed = 0;
  seen.changed = Clock::now();
  long long count = 0, step = 0, exchanges = 0;
  if (std::sscanf(note->c_str(), "%lld %lld %lld", &count, &step, &exchanges) != 3) return;
  seen.step = step;
  seen.exchanges = exchanges;
}

std::vector<std::int64_t> SignsOfLife::steps() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::int64_t> steps;
  for (const auto& seen : seen_) steps.push_back(seen.step);
  steps[rank_] = step_;
  return steps;
}

std::string SignsOfLife::describe(int rank) const {
  const auto& seen = seen_[rank];
  return fmt::format("rank {} is lost: its last sign of life came {:.0f} s ago, after step {}",
                     rank, seconds_since(seen.changed), seen.step);
}

/// A rank that left because of another one says so itself: the first cause wins.
std::optional<std::string> SignsOfLife::trouble_after(double silence) const {
  const std::scoped_lock lock(mutex_);
  for (int i = 0; i < size_; ++i) {
    if (i != rank_ && seen_[i].farewell) return *seen_[i].farewell;
  }
  if (store_lost_) return "rank 0 is lost: its store answers no more";
  if (seconds_of(waits_) > silence) {
    return fmt::format("rank 0 is lost: its store has not answered for {:.0f} s",
                       seconds_of(waits_));
  }
  for (int i = 0; i < size_; ++i) {
    if (i != rank_ && seconds_of(seen_[i].missed) > silence) return describe(i);
  }
  return std::nullopt;
}

std::optional<std::string> SignsOfLife::trouble() const { return trouble_after(silence_); }

std::string SignsOfLife::explain(const std::string& error) const {
  const auto begin = looks_.load();
  const double enough = std::min(silence_, kMissedNotes);
  while (seconds_of(looks_ - begin + waits_) < enough + 2) {
    if (const auto found = trouble_after(enough)) return *found;
    std::this_thread::sleep_for(50ms);
  }
  // All live: the one that made fewer exchanges is the one that the others wait for.
  const std::scoped_lock lock(mutex_);
  const auto behind = std::ranges::min_element(seen_, {}, [&](const Seen& seen) {
    return &seen == &seen_[rank_] ? exchanges_.load() : seen.exchanges;
  });
  return fmt::format("rank {} hangs at step {}, all live (\"{}\")", behind - seen_.begin(),
                     behind->step, error);
}

void SignsOfLife::leave(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    leaving_ = why;
  }
  const auto begin = Clock::now();
  const auto told = [&] {
    const std::scoped_lock lock(mutex_);
    return !leaving_;
  };
  while (!store_lost_ && !told() && seconds_since(begin) < 2) std::this_thread::sleep_for(20ms);
  if (rank_ != 0) return;
  const auto all_left = [&] {
    const std::scoped_lock lock(mutex_);
    for (int i = 1; i < size_; ++i) {
      if (!seen_[i].farewell && seconds_since(seen_[i].changed) < kMissedNotes) return false;
    }
    return true;
  };
  while (!all_left() && seconds_since(begin) < kMissedNotes + 2) {
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace ubique::dist
