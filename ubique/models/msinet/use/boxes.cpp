// SPDX-License-Identifier: Apache-2.0
// Parsing boxes, the share of a map in each, and their CSV lines.
#include "ubique/models/msinet/use/boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "ubique/base/error.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/text.h"
#include "ubique/models/msinet/score/metric_pairs.h"

namespace ubique::msinet {
namespace {

const std::vector<std::string> kBoxColumns = {"name", "x", "y", "w", "h"};

NamedBox box_of(const CsvLine& line, const std::string& where) {
  const auto& fields = line.fields;
  check(fields.size() == kBoxColumns.size(), ErrorKind::Input,
        "[msinet.attention] {} line {} is not a box; got {} fields, expected {}.", where,
        line.number, fields.size(), join(kBoxColumns, ","));
  std::array<double, 4> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_number(fields[i + 1]);
    check(number.has_value(), ErrorKind::Input,
          "[msinet.attention] {} line {}: {} is not a number; got '{}', expected pixels.", where,
          line.number, kBoxColumns[i + 1], fields[i + 1]);
    numbers[i] = *number;
  }
  check(numbers[2] > 0 && numbers[3] > 0, ErrorKind::Input,
        "[msinet.attention] {} line {}: box '{}' has no area; got {} x {}, expected sides above 0.",
        where, line.number, fields[0], numbers[2], numbers[3]);
  return {fields[0], numbers[0], numbers[1], numbers[2], numbers[3]};
}

/// An interval on one axis, clipped to the image: the pixels it touches and how much of each it
/// covers.
struct Interval {
  double begin, end;

  Interval(double from, double length, int limit)
      : begin(std::clamp(from, 0.0, static_cast<double>(limit))),
        end(std::clamp(from + length, 0.0, static_cast<double>(limit))) {}
  double length() const { return end - begin; }
  std::size_t first() const { return static_cast<std::size_t>(begin); }
  std::size_t last() const { return static_cast<std::size_t>(std::ceil(end)); }
  double covered(std::size_t pixel) const {
    const auto left = static_cast<double>(pixel);
    return std::min(end, left + 1) - std::max(begin, left);
  }
};

BoxShare share_in_box(const MeasuredMap<float>& map, const DensityRule& density,
                      const NamedBox& box) {
  const Interval across(box.x, box.width, map.width), down(box.y, box.height, map.height);
  check(across.length() > 0 && down.length() > 0, ErrorKind::Input,
        "[msinet.attention] box '{}' lies outside of the image; got {} x {} at ({}, {}), expected "
        "some of it within {} x {}.",
        box.name, box.width, box.height, box.x, box.y, map.width, map.height);
  BoxShare result{box, 0, across.length() * down.length() / map.count(), 0};
  double highest = map.min;
  for (std::size_t y = down.first(); y < down.last(); ++y) {
    double row = 0;
    for (std::size_t x = across.first(); x < across.last(); ++x) {
      const auto value =
          static_cast<double>(map.values[y * static_cast<std::size_t>(map.width) + x]);
      row += across.covered(x) * density(value);
      highest = std::max(highest, value);
    }
    result.share += down.covered(y) * row;
  }
  result.peak = map.constant() ? 0 : (highest - map.min) / (map.max - map.min);
  return result;
}

}  // namespace

std::vector<NamedBox> parse_boxes(std::string_view csv, const std::string& where) {
  auto lines = parse_csv(csv, where);
  if (!lines.empty() && lines.front().fields == kBoxColumns) lines.erase(lines.begin());
  check(!lines.empty(), ErrorKind::Input,
        "[msinet.attention] {} holds no boxes; expected lines of {}.", where,
        join(kBoxColumns, ","));
  std::vector<NamedBox> boxes;
  std::set<std::string> names;
  for (const auto& line : lines) {
    boxes.push_back(box_of(line, where));
    check(names.insert(boxes.back().name).second, ErrorKind::Input,
          "[msinet.attention] {} line {}: the name '{}' is used twice; expected one box for each "
          "name.",
          where, line.number, boxes.back().name);
  }
  return boxes;
}

std::vector<BoxShare> box_shares(const MeasuredMap<float>& map, std::span<const NamedBox> boxes) {
  const auto density = density_rule(map, Definition::Tuebingen);
  std::vector<BoxShare> shares;
  for (const auto& box : boxes) shares.push_back(share_in_box(map, density, box));
  return shares;
}

std::string box_csv_columns() { return "name,x,y,w,h,share,area,lift,peak"; }

std::string box_csv_rows(std::string_view begin, std::span<const BoxShare> shares) {
  std::string text;
  for (const auto& share : shares) {
    const auto& box = share.box;
    text += fmt::format("{},{},{},{},{},{},{:.6f},{:.6f},{:.4f},{:.6f}\n", begin,
                        csv_field(box.name), box.x, box.y, box.width, box.height, share.share,
                        share.area, share.lift(), share.peak);
  }
  return text;
}

std::string box_csv_header() { return "image," + box_csv_columns() + "\n"; }

std::string box_csv_lines(std::string_view image, std::span<const BoxShare> shares) {
  return box_csv_rows(csv_field(image), shares);
}

}  // namespace ubique::msinet
