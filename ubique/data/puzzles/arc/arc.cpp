// SPDX-License-Identifier: Apache-2.0
// Variants and tokens of ARC grids.
#include "ubique/data/puzzles/arc/arc.h"

#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"

namespace ubique::data {
namespace {

constexpr std::string_view kNameSeparator = "|||";
constexpr std::int32_t kArcEdge = 1, kArcBlack = 2, kArcLast = 11;

ArcGrid transformed(const ArcGrid& grid, int id) {
  ArcGrid out{dihedral_size(id, grid.size), {}};
  out.cells.reserve(grid.cells.size());
  if (grid.cells.empty()) return out;
  for (const auto cell : dihedral_sources(id, grid.size)) out.cells.push_back(grid.cells[cell]);
  return out;
}

ArcGrid recoloured(ArcGrid grid, const std::array<std::uint8_t, 10>& colours) {
  for (auto& cell : grid.cells) cell = colours[cell];
  return grid;
}

}  // namespace

std::string ArcGrid::key() const {
  std::string text{static_cast<char>(size.rows), static_cast<char>(size.cols)};
  text.append(cells.begin(), cells.end());
  return text;
}

ArcVariant random_variant(const Random& random) {
  ArcVariant variant;
  variant.dihedral = static_cast<int>(random.below(0, 8));
  const auto order = random.fork(0).permutation(9);
  for (std::size_t i = 0; i < 9; ++i) {
    variant.colours[i + 1] = static_cast<std::uint8_t>(order[i] + 1);
  }
  return variant;
}

ArcGrid apply_variant(const ArcVariant& variant, const ArcGrid& grid) {
  return transformed(recoloured(grid, variant.colours), variant.dihedral);
}

ArcGrid undo_variant(const ArcVariant& variant, const ArcGrid& grid) {
  std::array<std::uint8_t, 10> back{};
  for (std::size_t i = 0; i < back.size(); ++i) {
    back[variant.colours[i]] = static_cast<std::uint8_t>(i);
  }
  return recoloured(transformed(grid, kDihedralInverse[static_cast<std::size_t>(variant.dihedral)]),
                    back);
}

std::string variant_name(const std::string& task, const ArcVariant& variant) {
  std::string digits;
  for (const auto colour : variant.colours) digits += static_cast<char>('0' + colour);
  return fmt::format("{}{}t{}{}{}", task, kNameSeparator, variant.dihedral, kNameSeparator, digits);
}

ArcName parse_variant_name(const std::string& name) {
  const auto first = name.find(kNameSeparator);
  if (first == std::string::npos) return {name, {}};
  const auto last = name.rfind(kNameSeparator);
  const auto turn = name.substr(first + kNameSeparator.size(),
                                last > first ? last - first - kNameSeparator.size() : 0);
  auto digits = name.substr(last + kNameSeparator.size());
  auto sorted = digits;
  std::sort(sorted.begin(), sorted.end());
  check(last > first && turn.size() == 2 && turn[0] == 't' && turn[1] >= '0' && turn[1] <= '7' &&
            sorted == "0123456789",
        ErrorKind::Input,
        "[data.arc] '{}' names no variant of a task; expected TASK|||t0 to t7|||ten digits.", name);
  ArcName parsed{name.substr(0, first), {}};
  parsed.variant.dihedral = turn[1] - '0';
  for (std::size_t i = 0; i < 10; ++i) {
    parsed.variant.colours[i] = static_cast<std::uint8_t>(digits[i] - '0');
  }
  return parsed;
}

std::vector<std::int32_t> arc_tokens(const ArcGrid& grid, std::size_t row, std::size_t col) {
  const auto below = row + grid.size.rows, right = col + grid.size.cols;
  check(below <= kArcSide && right <= kArcSide, ErrorKind::Internal,
        "[data.arc] a grid of {}x{} does not fit at {}, {}.", grid.size.rows, grid.size.cols, row,
        col);
  std::vector<std::int32_t> tokens(kArcSide * kArcSide, 0);
  for (std::size_t r = 0; r < grid.size.rows; ++r) {
    for (std::size_t c = 0; c < grid.size.cols; ++c) {
      tokens[(row + r) * kArcSide + col + c] = grid.cells[r * grid.size.cols + c] + kArcBlack;
    }
    if (right < kArcSide) tokens[(row + r) * kArcSide + right] = kArcEdge;
  }
  if (below < kArcSide) {
    for (auto c = col; c < right; ++c) tokens[below * kArcSide + c] = kArcEdge;
  }
  return tokens;
}

ArcGrid crop_arc(std::span<const std::int32_t> tokens) {
  check(tokens.size() == kArcSide * kArcSide, ErrorKind::Internal,
        "[data.arc] got {} tokens, expected {}.", tokens.size(), kArcSide * kArcSide);
  GridSize best;
  auto width = kArcSide;
  for (std::size_t row = 0; row < kArcSide; ++row) {
    for (std::size_t col = 0; col < width; ++col) {
      const auto token = tokens[row * kArcSide + col];
      if (token < kArcBlack || token > kArcLast) width = col;
    }
    if ((row + 1) * width > best.rows * best.cols) best = {row + 1, width};
  }
  ArcGrid grid{best, {}};
  for (std::size_t row = 0; row < best.rows; ++row) {
    for (std::size_t col = 0; col < best.cols; ++col) {
      grid.cells.push_back(static_cast<std::uint8_t>(tokens[row * kArcSide + col] - kArcBlack));
    }
  }
  return grid;
}

PuzzleMetadata arc_metadata() {
  PuzzleMetadata metadata;
  metadata.vocab_size = kArcLast + 1;
  metadata.seq_len = kArcSide * kArcSide;
  metadata.layout = {PuzzleKind::Arc, kArcSide, kArcSide};
  metadata.provenance = layout_json(metadata.layout);
  return metadata;
}

}  // namespace ubique::data
