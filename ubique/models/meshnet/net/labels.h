// SPDX-License-Identifier: Apache-2.0
// Names and colours of a network's classes, with defaults for models that have none.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ubique::meshnet {

struct Label {
  std::string name;
  std::array<std::uint8_t, 3> colour{};
  bool operator==(const Label&) const = default;
};

/// The default colour of a class. The first 32 differ, and they are the same for every model.
std::array<std::uint8_t, 3> palette_colour(std::int64_t label);

/// The class's name in `labels`; without one "background", "lesion" (the second of two classes) or
/// "label N".
std::string label_name(const std::vector<Label>& labels, std::int64_t label, std::int64_t classes);

/// `labels` extended to one per class with default names and colours.
std::vector<Label> all_labels(std::vector<Label> labels, std::int64_t classes);

}  // namespace ubique::meshnet
