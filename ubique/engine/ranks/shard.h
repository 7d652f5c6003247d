// SPDX-License-Identifier: Apache-2.0
// Which micro-batches of an update a rank computes: neighbours, the same ones in every update, so
// that what a model keeps for the samples of an update stays on its rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ubique::engine {

struct Shard {
  std::int64_t rank = 0, ranks = 1;
  std::int64_t per_update = 1, micro_batch = 1;  ///< samples

  std::int64_t parts_of(std::int64_t samples) const {
    return (samples + micro_batch - 1) / micro_batch;
  }
  /// Micro-batches of a whole update. The last update of an epoch may have fewer.
  std::int64_t parts() const { return parts_of(per_update); }
  std::int64_t owner(std::int64_t part) const { return part * ranks / parts(); }
  bool has(std::int64_t part) const { return owner(part) == rank; }
  /// This rank's part of an update with so many parts: from, and past the last.
  std::pair<std::int64_t, std::int64_t> range(std::int64_t of_parts) const {
    return {std::min(of_parts, first(rank)), std::min(of_parts, first(rank + 1))};
  }
  /// The samples within an update that a rank computes: from, and past the last.
  std::pair<std::int64_t, std::int64_t> samples_of(std::int64_t which) const {
    return {std::min(per_update, first(which) * micro_batch),
            std::min(per_update, first(which + 1) * micro_batch)};
  }

 private:
  std::int64_t first(std::int64_t which) const { return (which * parts() + ranks - 1) / ranks; }
};

}  // namespace ubique::engine
