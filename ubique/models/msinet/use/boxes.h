// SPDX-License-Identifier: Apache-2.0
// How much of a map's mass falls into named boxes: which part of a page or an advertisement gets
// how much of the attention. Text in, text out; no files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// In pixels of the image from its top left corner; fractions are allowed.
struct AttentionBox {
  std::string name;
  double x = 0, y = 0, width = 0, height = 0;
};

/// Reads lines "name,x,y,w,h"; a first line of just these words is left out. Input error that names
/// the line for a wrong number of fields, something that is not a number, a side that is not above
/// 0, a name used twice; and for a text without boxes. `where` stands for the file.
std::vector<AttentionBox> parse_boxes(std::string_view csv, const std::string& where);

struct AttentionShare {
  AttentionBox box;
  double share = 0;  ///< of the map's mass, 0 to 1
  double area = 0;   ///< of the image that the box covers, 0 to 1
  double peak = 0;   ///< the map's highest value in the box, 0 to 1 of its range

  double lift() const { return share / area; }  ///< 1: no more than its size would get by chance
};

/// Pixels at a box's edge count as far as they are covered; a part of a box outside of the image
/// counts for nothing. Boxes may overlap. A constant map is an even one. Input error that names a
/// box that lies wholly outside.
std::vector<AttentionShare> attention_shares(const MeasuredMap<float>& map,
                                             std::span<const AttentionBox> boxes);

/// "name,x,y,w,h,share,area,lift,peak" and a line for each box; `begin` stands before each.
std::string attention_csv_columns();
std::string attention_csv_rows(std::string_view begin, std::span<const AttentionShare> shares);
/// The same after "image"; many images' lines may follow one header.
std::string attention_csv_header();
std::string attention_csv_lines(std::string_view image, std::span<const AttentionShare> shares);

}  // namespace ubique::msinet
