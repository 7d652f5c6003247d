// SPDX-License-Identifier: Apache-2.0
// The Range header: which bytes of a file a client wants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ubique::serve {

struct ByteRange {
  std::int64_t first = 0, count = 0;
};

enum class RangeKind { Whole, Part, Impossible };

struct WantedRange {
  RangeKind kind = RangeKind::Whole;
  ByteRange part = {};
};

/// Of "bytes=0-99", "bytes=100-", "bytes=-100". Whatever else is asked for gets the whole file, as
/// the protocol allows; Impossible for a part that begins behind the end.
WantedRange wanted_range(const std::string& header, std::int64_t bytes);

}  // namespace ubique::serve
