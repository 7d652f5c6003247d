// SPDX-License-Identifier: Apache-2.0
// Samples by number. A dataset gives tensors on the host; order, threads and transfers are the
// loader's business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ubique/base/numbers/random.h"
#include "ubique/engine/contract/batch.h"

namespace ubique::engine {

/// A stream of random numbers for every sample of a piece, by its place in the epoch: however an
/// update is cut into pieces, a sample draws the same.
class SampleRandoms {
 public:
  explicit SampleRandoms(Random epoch, std::int64_t first = 0) : epoch_(epoch), first_(first) {}

  Random of(std::size_t row) const { return epoch_.fork(static_cast<std::uint64_t>(first_) + row); }

 private:
  Random epoch_;
  std::int64_t first_;  // the piece's first sample
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  /// Collates these samples. Called from several threads at once. `randoms` are for
  /// augmentation.
  virtual Batch load(const std::vector<std::int64_t>& indices,
                     const SampleRandoms& randoms) const = 0;
  /// How many samples an epoch has, for updates of so many.
  virtual std::int64_t epoch_samples(std::int64_t /*per_update*/) const { return size(); }
  /// Those of one epoch in the order to take them, epoch_samples() of them. `random` is the epoch's
  /// own stream.
  virtual std::vector<std::int64_t> order(std::int64_t /*epoch*/, std::int64_t /*per_update*/,
                                          const Random& random) const {
    return random.permutation(size());
  }
  /// Samples that take the most memory, for a trial step: any where all are alike.
  virtual std::vector<std::int64_t> largest(std::int64_t count) const {
    std::vector<std::int64_t> first;
    for (std::int64_t i = 0; i < count; ++i) first.push_back(i);
    return first;
  }
  /// A short hash of what the samples are, for the checkpoint's provenance.
  virtual std::string fingerprint() const = 0;
};

}  // namespace ubique::engine
