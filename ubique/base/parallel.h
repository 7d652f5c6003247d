// SPDX-License-Identifier: Apache-2.0
// A for loop split over threads. Results must not depend on how the range is split.
#pragma once

#include <cstdint>
#include <functional>

namespace ubique {

/// Calls work(begin, end) for parts that together cover [0, count), on up to `threads` threads, the
/// caller's among them. No part but the last is shorter than `grain`. The first exception of a part
/// is rethrown here once all threads have ended; parts not yet begun are then skipped.
void parallel_for(std::int64_t count, int threads,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& work,
                  std::int64_t grain = 1);

}  // namespace ubique
