// SPDX-License-Identifier: Apache-2.0
// The default palette and default names of classes.
#include "ubique/models/meshnet/net/labels.h"

#include <fmt/format.h>

namespace ubique::meshnet {

std::array<std::uint8_t, 3> palette_colour(std::int64_t label) {
  static constexpr std::array<std::array<std::uint8_t, 3>, 8> kColours = {{
      {230, 60, 50},
      {60, 150, 230},
      {90, 200, 110},
      {240, 190, 50},
      {170, 100, 220},
      {60, 200, 200},
      {240, 130, 190},
      {160, 160, 90},
  }};
  if (label <= 0) return {0, 0, 0};
  auto colour = kColours[static_cast<std::size_t>(label - 1) % kColours.size()];
  // Further rounds through the palette are darker.
  const auto round = (label - 1) / static_cast<std::int64_t>(kColours.size());
  for (auto& part : colour) part = static_cast<std::uint8_t>(part * 5 / (5 + round % 4));
  return colour;
}

std::string label_name(const std::vector<Label>& labels, std::int64_t label, std::int64_t classes) {
  if (label < static_cast<std::int64_t>(labels.size())) {
    return labels[static_cast<std::size_t>(label)].name;
  }
  if (label == 0) return "background";
  return classes == 2 ? "lesion" : fmt::format("label {}", label);
}

std::vector<Label> all_labels(std::vector<Label> labels, std::int64_t classes) {
  for (auto i = static_cast<std::int64_t>(labels.size()); i < classes; ++i) {
    labels.push_back({label_name({}, i, classes), palette_colour(i)});
  }
  return labels;
}

}  // namespace ubique::meshnet
