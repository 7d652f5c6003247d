// SPDX-License-Identifier: Apache-2.0
// Reads fixations (where people looked) from tables of x and y, images of points, and the MATLAB
// files of the known data sets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/data/images/image.h"

namespace ubique::data {

/// Fixations on one picture.
struct FixationList {
  std::string stimulus;  ///< the picture's file name, if the file has it
  std::vector<Fixation> fixations;
  std::vector<int> observers;  ///< observer of each, numbered from 0; empty if unknown
};

/// Ends in .csv, .npy, .npz, .mat, .png, .jpg or .jpeg.
bool is_fixation_name(const std::filesystem::path& path);

/// Fixations of one picture, by file extension:
///   .csv   columns x and y, or the first two without a header; observers from a column observer or
///          subject
///   .npy   N x 2: x, y; .npz: its array "points" or "fixations", or its only one
///   .png, .jpg   a pixel above 127 is a fixation
///   .mat   DUT-OMRON's variable s: sorted by its third column, the first row is width and height,
///          the others x and y; SALICON's gaze: x and y from 1, per observer; CAT2000's and MIT's
///          fixLocs: non-zero pixels; OSIE's and PASCAL-S's files, if they hold one picture
/// Input error for anything else.
FixationList read_fixation_list(const std::filesystem::path& path);
std::vector<Fixation> read_fixations(const std::filesystem::path& path);  ///< without the observers

/// CSV with the header x,y. Atomic.
void write_fixations(const std::filesystem::path& path, const std::vector<Fixation>& fixations);

}  // namespace ubique::data
