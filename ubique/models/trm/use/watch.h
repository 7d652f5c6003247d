// SPDX-License-Identifier: Apache-2.0
// Shows how a grid changes step by step: in place on a terminal, or as one frame after another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/models/trm/use/puzzle_input.h"

namespace ubique::trm {

struct WatchStyle {
  bool in_place = false;  ///< moves the cursor up, so that a frame overwrites the last one
  bool colours = false;   ///< given cells bold, changed ones on green; without, changed ones have *
  double delay = 0;       ///< seconds to wait after a frame
};

/// The style for standard output: whether it is a terminal, and NO_COLOR. A negative delay means
/// the default.
WatchStyle watch_style(double delay);

class Watch {
 public:
  using Write = std::function<void(std::string_view)>;

  /// Shows the puzzle as given; there will be at most `max_steps` steps.
  Watch(const PuzzleInput& puzzle, std::int64_t max_steps, const WatchStyle& style, Write write);
  /// Shows the answer after the next step.
  void show(const Solved& now);

 private:
  std::string grid(const std::vector<std::int32_t>& tokens) const;
  void frame(const std::string& title, const std::vector<std::int32_t>& tokens);

  const PuzzleInput& puzzle_;
  std::int64_t max_steps_;
  WatchStyle style_;
  Write write_;
  std::vector<std::int32_t> before_;
  std::ptrdiff_t lines_ = 0;  // of the frame on the terminal now
};

}  // namespace ubique::trm
