// SPDX-License-Identifier: Apache-2.0
#include "ubique/engine/loop/loader.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <deque>

#include "ubique/base/error.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/seed_streams.h"

namespace ubique::engine {
namespace {

std::string samples_text(const std::vector<std::int64_t>& indices) {
  constexpr std::size_t kMostShown = 8;
  const auto shown = std::min(indices.size(), kMostShown);
  return fmt::format("sample{} {}{} of the training set", indices.size() == 1 ? "" : "s",
                     fmt::join(indices.begin(), indices.begin() + static_cast<long>(shown), ", "),
                     shown < indices.size() ? ", ..." : "");
}

/// The pieces of one update after another.
class PieceSource {
 public:
  PieceSource(data::Sampler sampler, data::Cursor start, std::int64_t updates, std::int64_t at_once)
      : sampler_(std::move(sampler)), cursor_(start), left_(updates), at_once_(at_once) {}

  std::optional<data::MicroBatch> next() {
    if (waiting_.empty()) {
      if (left_ <= 0) return std::nullopt;
      for (auto& piece : sampler_.micro_batches(cursor_, at_once_))
        waiting_.push_back(std::move(piece));
      cursor_ = sampler_.after(cursor_);
      --left_;
    }
    auto piece = std::move(waiting_.front());
    waiting_.pop_front();
    return piece;
  }

 private:
  data::Sampler sampler_;
  data::Cursor cursor_;
  std::int64_t left_, at_once_;
  std::deque<data::MicroBatch> waiting_;
};

}  // namespace

LoadedPiece load_piece(const Dataset& dataset, data::MicroBatch piece, std::uint64_t seed,
                       bool pinned) {
  const SampleRandoms randoms(Random(seed, number(Stream::Augmentation))
                                  .fork(static_cast<std::uint64_t>(piece.cursor.epoch)),
                              piece.position);
  try {
    auto batch = dataset.load(piece.indices, randoms);
    batch.first = piece.first;
    if (pinned) {
      for (auto& [name, tensor] : batch.tensors) tensor = tensor.pin_memory();
    }
    return {std::move(piece), std::move(batch)};
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("{} (loading {})", error.what(), samples_text(piece.indices)));
  } catch (const std::exception& error) {
    if (device::is_out_of_memory(error)) throw;
    fail(ErrorKind::Input, "[engine.load] {} cannot be loaded; got \"{}\".",
         samples_text(piece.indices), error.what());
  }
}

Loader::Loader(const Dataset& dataset, data::Sampler sampler, const plan::Plan& plan,
               std::uint64_t seed, data::Cursor start, std::int64_t updates) {
  auto source =
      std::make_shared<PieceSource>(std::move(sampler), start, updates, plan.micro_batch.value);
  const bool pinned = plan.pinned_memory.value;
  auto jobs = [&dataset, source, seed,
               pinned]() -> std::optional<data::Prefetch<LoadedPiece>::Job> {
    auto piece = source->next();
    if (!piece) return std::nullopt;
    return [&dataset, piece = std::move(*piece), seed, pinned] {
      return load_piece(dataset, piece, seed, pinned);
    };
  };
  // A worker is one of several: its tensor ops must not each start a team of threads. The setting
  // is the thread's own, but threads begun later would inherit it, so it is put back here.
  const int threads = at::get_num_threads();
  prefetch_ = std::make_unique<data::Prefetch<LoadedPiece>>(
      std::move(jobs), plan.prefetch_threads.value, [] { at::set_num_threads(1); });
  if (plan.prefetch_threads.value > 0) at::set_num_threads(threads);
}

LoadedPiece Loader::next() {
  auto piece = prefetch_->next();
  check(piece.has_value(), ErrorKind::Internal, "[engine.load] asked for more than was planned.");
  return std::move(*piece);
}

}  // namespace ubique::engine
