// SPDX-License-Identifier: Apache-2.0
// Splits updates into micro_batches and loads them in a thread pool.
#include "ubique/engine/loop/loader.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <deque>

#include "ubique/base/error.h"
#include "ubique/device/runtime.h"
#include "ubique/engine/loop/run_state.h"

namespace ubique::engine {
namespace {

std::string samples_text(const std::vector<std::int64_t>& indices) {
  constexpr std::size_t kMostShown = 8;
  const auto shown = std::min(indices.size(), kMostShown);
  return fmt::format("sample{} {}{} of the training set", indices.size() == 1 ? "" : "s",
                     fmt::join(indices.begin(), indices.begin() + static_cast<long>(shown), ", "),
                     shown < indices.size() ? ", ..." : "");
}

/// The micro-batches of all updates, in order.
class MicroBatchSource {
 public:
  MicroBatchSource(data::Sampler sampler, data::Cursor start, std::int64_t updates,
                   std::int64_t size, const Shard& shard)
      : sampler_(std::move(sampler)), cursor_(start), left_(updates), size_(size), shard_(shard) {}

  std::optional<data::MicroBatch> next() {
    while (waiting_.empty()) {  // of a short update a rank may have none
      if (left_ <= 0) return std::nullopt;
      for (auto& micro_batch : sampler_.micro_batches(cursor_, size_)) {
        if (shard_.ranks > 1 && !shard_.has(micro_batch.part)) continue;
        waiting_.push_back(std::move(micro_batch));
      }
      cursor_ = sampler_.after(cursor_);
      --left_;
    }
    auto micro_batch = std::move(waiting_.front());
    waiting_.pop_front();
    return micro_batch;
  }

 private:
  data::Sampler sampler_;
  data::Cursor cursor_;
  std::int64_t left_, size_;
  Shard shard_;
  std::deque<data::MicroBatch> waiting_;
};

}  // namespace

LoadedBatch load_batch(const Dataset& dataset, data::MicroBatch micro_batch, std::uint64_t seed,
                       bool pinned) {
  const SampleRandoms randoms(Random(seed, number(SeedStream::Augmentation))
                                  .fork(static_cast<std::uint64_t>(micro_batch.cursor.epoch)),
                              micro_batch.position);
  try {
    auto batch = dataset.load(micro_batch.indices, randoms);
    batch.first = micro_batch.first;
    if (pinned) {
      for (auto& [name, tensor] : batch.tensors) tensor = tensor.pin_memory();
    }
    return {std::move(micro_batch), std::move(batch)};
  } catch (const Error& error) {
    throw Error(error.kind(),
                fmt::format("{} (loading {})", error.what(), samples_text(micro_batch.indices)));
  } catch (const std::exception& error) {
    if (device::is_out_of_memory(error)) throw;
    fail(ErrorKind::Input, "[engine.load] {} cannot be loaded; got \"{}\".",
         samples_text(micro_batch.indices), error.what());
  }
}

Loader::Loader(const Dataset& dataset, data::Sampler sampler, const plan::Plan& plan,
               std::uint64_t seed, data::Cursor start, std::int64_t updates, const Shard& shard) {
  auto source = std::make_shared<MicroBatchSource>(std::move(sampler), start, updates,
                                                   plan.micro_batch.value, shard);
  const bool pinned = plan.pinned_memory.value;
  auto jobs = [&dataset, source, seed,
               pinned]() -> std::optional<data::Prefetch<LoadedBatch>::Job> {
    auto micro_batch = source->next();
    if (!micro_batch) return std::nullopt;
    return [&dataset, micro_batch = std::move(*micro_batch), seed, pinned] {
      return load_batch(dataset, micro_batch, seed, pinned);
    };
  };
  // Tensor ops in workers must not start thread pools of their own. The setting is per thread, but
  // threads started later would inherit it, so it is restored here.
  const int threads = at::get_num_threads();
  prefetch_ = std::make_unique<data::Prefetch<LoadedBatch>>(
      std::move(jobs), plan.prefetch_threads.value, [] { at::set_num_threads(1); });
  if (plan.prefetch_threads.value > 0) at::set_num_threads(threads);
}

LoadedBatch Loader::next() {
  auto micro_batch = prefetch_->next();
  check(micro_batch.has_value(), ErrorKind::Internal,
        "[engine.load] no batch is left; more were requested than planned.");
  return std::move(*micro_batch);
}

}  // namespace ubique::engine
