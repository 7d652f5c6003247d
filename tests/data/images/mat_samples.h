// SPDX-License-Identifier: Apache-2.0
// MATLAB files in the formats of eye-movement data sets, built element by element.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ubique/io/archive/byte_order.h"

namespace ubique::test {

inline constexpr std::uint32_t kMatCell = 1, kMatStruct = 2, kMatChar = 4, kMatDouble = 6;

inline std::string mat_element(std::uint32_t type, std::string content) {
  std::string out;
  io::append_little(out, type, 4);
  io::append_little(out, content.size(), 4);
  content.resize((content.size() + 7) / 8 * 8);
  return out + content;
}

inline std::string mat_array(std::uint32_t kind, const std::vector<std::int32_t>& shape,
                             const std::string& name, const std::string& content) {
  std::string flags, sides;
  io::append_little(flags, kind, 8);
  for (const auto side : shape) io::append_little(sides, static_cast<std::uint32_t>(side), 4);
  return mat_element(
      14, mat_element(6, flags) + mat_element(5, sides) + mat_element(1, name) + content);
}

inline std::string mat_numbers(const std::vector<std::int32_t>& shape, const std::string& name,
                               const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values)
    io::append_little(bytes, std::bit_cast<std::uint64_t>(value), 8);
  return mat_array(kMatDouble, shape, name, mat_element(9, bytes));
}

inline std::string mat_text(const std::string& text) {
  return mat_array(kMatChar, {1, static_cast<std::int32_t>(text.size())}, "",
                   mat_element(16, text));
}

/// One struct of two fields.
inline std::string mat_struct(const std::string& first, const std::string& first_value,
                              const std::string& second, const std::string& second_value) {
  std::string length, names = first;
  io::append_little(length, 16, 4);
  names.resize(16);
  names += second;
  names.resize(32);
  return mat_array(kMatStruct, {1, 1}, "",
                   mat_element(5, length) + mat_element(1, names) + first_value + second_value);
}

inline std::string mat_file(const std::string& content) {
  std::string header(124, ' ');
  header.replace(0, 10, "MATLAB 5.0");
  return header + std::string("\x00\x01IM", 4) + content;
}

/// Pictures, each looked at by observers with one fixation.
using OsiePicture = std::pair<std::string, std::vector<std::pair<double, double>>>;

inline std::string osie_file(const std::vector<OsiePicture>& pictures) {
  std::string entries;
  for (const auto& [name, fixations] : pictures) {
    std::string subjects;
    for (const auto& [x, y] : fixations) {
      subjects +=
          mat_struct("fix_x", mat_numbers({1, 1}, "", {x}), "fix_y", mat_numbers({1, 1}, "", {y}));
    }
    const auto count = static_cast<std::int32_t>(fixations.size());
    entries += mat_struct("img", mat_text(name), "subjects",
                          mat_array(kMatCell, {count, 1}, "", subjects));
  }
  const auto count = static_cast<std::int32_t>(pictures.size());
  return mat_file(mat_array(kMatCell, {count, 1}, "fixations", entries));
}

/// Observers of one picture with their fixations, x and y from 1: an array of structs.
inline std::string salicon_file(
    const std::vector<std::vector<std::pair<double, double>>>& observers) {
  std::string length, names = "timestamp", values;
  io::append_little(length, 16, 4);
  names.resize(16);
  names += "fixations";
  names.resize(32);
  for (const auto& fixations : observers) {
    const auto count = static_cast<std::int32_t>(fixations.size());
    std::vector<double> columns;
    for (const auto& place : fixations) columns.push_back(place.first);
    for (const auto& place : fixations) columns.push_back(place.second);
    values += mat_numbers({1, 1}, "", {0}) + mat_numbers({count, 2}, "", columns);
  }
  const auto count = static_cast<std::int32_t>(observers.size());
  return mat_file(mat_array(kMatStruct, {1, count}, "gaze",
                            mat_element(5, length) + mat_element(1, names) + values));
}

/// DUT-OMRON's table: the picture's size first by the third column, then points.
inline std::string omron_file(double width, double height,
                              const std::vector<std::pair<double, double>>& points) {
  std::vector<double> x = {width}, y = {height}, order = {0};
  for (const auto& point : points) {
    x.push_back(point.first);
    y.push_back(point.second);
    order.push_back(static_cast<double>(order.size()));
  }
  x.insert(x.end(), y.begin(), y.end());
  x.insert(x.end(), order.begin(), order.end());
  return mat_file(mat_numbers({static_cast<std::int32_t>(order.size()), 3}, "s", x));
}

}  // namespace ubique::test
