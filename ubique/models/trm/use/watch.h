// SPDX-License-Identifier: Apache-2.0
// A grid filling up, step by step: in one place of a terminal, or as one text after another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/models/trm/use/puzzle_input.h"

namespace ubique::trm {

struct WatchStyle {
  bool in_place = false;  ///< moves the cursor up, so that a frame covers the one before
  bool colours = false;   ///< given cells bold, changed ones on green; without, changed ones have *
  double delay = 0;       ///< seconds that a frame stands
};

/// For standard output as it is: a terminal or not, NO_COLOR or not. A delay below 0: the usual
/// one.
WatchStyle watch_style(double delay);

class Watch {
 public:
  using Write = std::function<void(std::string_view)>;

  /// Shows the puzzle as it was given. `most` steps at most.
  Watch(const AskedPuzzle& puzzle, std::int64_t most, const WatchStyle& style, Write write);
  /// What the network thinks after another step.
  void show(const Solved& now);

 private:
  std::string grid(const std::vector<std::int32_t>& tokens) const;
  void frame(const std::string& title, const std::vector<std::int32_t>& tokens);

  const AskedPuzzle& puzzle_;
  std::int64_t most_;
  WatchStyle style_;
  Write write_;
  std::vector<std::int32_t> before_;
  std::ptrdiff_t lines_ = 0;  // of the frame that stands there
};

}  // namespace ubique::trm
