// SPDX-License-Identifier: Apache-2.0
// Shapes of decoding steps: few of them, since each is recorded by itself, and small ones for few
// texts, so that a text that runs alone does not pay for the slots that rest.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "ubique/nn/decode/decoder.h"

namespace ubique::codelm {

struct StepShape {
  std::int64_t first = 0, rows = 1;  ///< its slots
  std::int64_t width = 1;            ///< tokens of each slot
  /// Cached positions that are read, of a step for prompts, which predicts only what follows the
  /// last token of each slot; 0 for other steps.
  std::int64_t prompt_extent = 0;

  bool for_prompts() const { return prompt_extent > 0; }
  std::int64_t predicted() const { return for_prompts() ? 1 : width; }  ///< for each slot
  auto operator<=>(const StepShape&) const = default;
};

/// 1, 8 (as many rows as the kernels of a device compute at once), 16 and so on up to `slots`.
std::vector<std::int64_t> step_rows(std::int64_t slots);

/// The slots of these texts and the most tokens of one: the slot alone if there is one text, the
/// first slots if there are several.
StepShape step_shape(std::span<const nn::Extension> extensions, std::int64_t slots);

/// The step for the ends of prompts, in whose slots no text is longer than `longest`; its width is
/// 0 where passes for each prompt are faster, or the caches of `capacity` are too small.
StepShape prompt_shape(std::span<const nn::Extension> prompts, std::int64_t slots,
                       std::int64_t longest, std::int64_t capacity);

}  // namespace ubique::codelm
