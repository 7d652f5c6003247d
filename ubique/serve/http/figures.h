// SPDX-License-Identifier: Apache-2.0
// What the server counts, for /metrics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace ubique::serve {

struct Figures {
  std::array<std::atomic<std::int64_t>, 6> answers{};  ///< by the first digit of the status
  std::atomic<std::int64_t> connections = 0;           ///< open now
  std::atomic<std::int64_t> event_streams = 0;         ///< open now
  std::atomic<std::int64_t> refused_streams = 0;
  std::atomic<std::int64_t> uploaded_bytes = 0;
};

}  // namespace ubique::serve
