// SPDX-License-Identifier: Apache-2.0
// Named boxes on an image (parts of a page or an advertisement) and the share of viewers' attention
// that a saliency map predicts for each: the map's mass in the box. Works on text; no files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/models/msinet/score/metric.h"

namespace ubique::msinet {

/// In pixels of the image from its top left corner; fractions are allowed.
struct NamedBox {
  std::string name;
  double x = 0, y = 0, width = 0, height = 0;
};

/// Reads lines "name,x,y,w,h", with or without a header line. Input error that names the line for a
/// wrong number of fields, something that is not a number, a side that is not above 0, a name used
/// twice; and for a text without boxes. `where` names the file in errors.
std::vector<NamedBox> parse_boxes(std::string_view csv, const std::string& where);

struct BoxShare {
  NamedBox box;
  double share = 0;  ///< of the map's mass, 0 to 1
  double area = 0;   ///< share of the image that the box covers, 0 to 1
  double peak = 0;   ///< the map's highest value in the box, 0 to 1 of its range

  double lift() const { return share / area; }  ///< 1: what a uniform map gives a box of this size
};

/// Pixels at a box's edge count by the covered fraction; the part of a box outside of the image is
/// ignored. Boxes may overlap. A constant map counts as uniform. Input error that names a box that
/// lies entirely outside.
std::vector<BoxShare> box_shares(const MeasuredMap<float>& map, std::span<const NamedBox> boxes);

/// "name,x,y,w,h,share,area,lift,peak" and a line for each box; every line begins with `begin`.
std::string box_csv_columns();
std::string box_csv_rows(std::string_view begin, std::span<const BoxShare> shares);
/// The same with a first column "image"; lines of several images may follow one header.
std::string box_csv_header();
std::string box_csv_lines(std::string_view image, std::span<const BoxShare> shares);

}  // namespace ubique::msinet
