// SPDX-License-Identifier: Apache-2.0
// Where people looked, as files tell it: tables of x and y, point pictures, MATLAB files of the
// known data sets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ubique/data/images/image.h"

namespace ubique::data {

/// Fixations on one picture.
struct FixationList {
  std::string stimulus;  ///< the picture's file name, where the file says it
  std::vector<Fixation> fixations;
  std::vector<int> observers;  ///< who made each, as numbers from 0; empty where nobody says
};

/// .csv, .npy, .npz, .mat, .png, .jpg, .jpeg.
bool is_fixation_name(const std::filesystem::path& path);

/// Fixations of one picture, by the file's ending:
///   .csv   columns x and y, or the first two where no row names them; observers where a column is
///          called observer or subject
///   .npy   N x 2: x, y; .npz: its array "points" or "fixations", or its only one
///   .png, .jpg   a pixel above 127 is a fixation
///   .mat   DUT-OMRON's variable s: by its third column, first width and height, then x and y;
///          SALICON's gaze: per observer, x and y from 1; CAT2000's and MIT's fixLocs: a pixel that
///          is not 0; or OSIE's and PASCAL-S's, where they hold one picture
/// Input error for anything else.
FixationList read_looks(const std::filesystem::path& path);
std::vector<Fixation> read_fixations(const std::filesystem::path& path);  ///< without the observers

/// A MATLAB file with the fixations of many pictures, in its order: OSIE's (a cell of structs with
/// img and subjects of fix_x and fix_y) or PASCAL-S's (a cell of N x 2 rows and columns from 1).
std::vector<FixationList> read_fixation_lists(const std::filesystem::path& path);

/// CSV with the heading x,y. Atomic.
void write_fixations(const std::filesystem::path& path, const std::vector<Fixation>& fixations);

}  // namespace ubique::data
