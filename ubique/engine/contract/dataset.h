// SPDX-License-Identifier: Apache-2.0
// Samples by index. A dataset returns tensors on the host; order, threads and transfers to the
// device are done by the loader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// Random streams for augmentation, one per sample, by its index in the epoch: the numbers do not
/// depend on the micro-batch size.
class SampleRandoms {
 public:
  explicit SampleRandoms(Random epoch, std::int64_t first = 0) : epoch_(epoch), first_(first) {}

  Random of(std::size_t row) const { return epoch_.fork(static_cast<std::uint64_t>(first_) + row); }

 private:
  Random epoch_;
  std::int64_t first_;  // index of the batch's first sample
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  /// Collates these samples. Called from several threads at once. `randoms` are for
  /// augmentation.
  virtual Batch load(const std::vector<std::int64_t>& indices,
                     const SampleRandoms& randoms) const = 0;
  /// Samples per epoch when each update takes `per_update`.
  virtual std::int64_t epoch_samples(std::int64_t /*per_update*/) const { return size(); }
  /// Indices of one epoch in training order, epoch_samples() of them. `random` is the epoch's own
  /// stream.
  virtual std::vector<std::int64_t> order(std::int64_t /*epoch*/, std::int64_t /*per_update*/,
                                          const Random& random) const {
    return random.permutation(size());
  }
  /// Samples that take the most memory, for a trial step; any if all are equal.
  virtual std::vector<std::int64_t> largest(std::int64_t count) const {
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i < count; ++i) first.push_back(i);
    return first;
  }
  /// A short hash of the data, for the checkpoint's provenance.
  virtual std::string fingerprint() const = 0;
};

}  // namespace ubique::engine
