// SPDX-License-Identifier: Apache-2.0
// Runs data/scans on a scan for tests in another language: raw values to files, shape and affine as
// JSON on stdout.
//   conform_driver axes < affines (12 numbers a line)      axis codes, one line each
//   conform_driver conform METHOD I J K MM IMAGE OUT [MASK MASK_OUT]      MM: 1 or 0.9,1.1,1
//   conform_driver native METHOD I J K MM IMAGE LABELS_OUT   thresholded, then resampled to the
//   native grid
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/text.h"
#include "ubique/data/scans/conform/conform.h"
#include "ubique/data/scans/conform/native.h"
#include "ubique/data/scans/volume/orientation.h"

using namespace ubique;

namespace {

constexpr int kThreads = 2;

template <typename T>
void write_values(const std::string& path, const data::Grid<T>& grid) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(grid.values)));
  file.commit();
}

int print_axes() {
  data::Affine affine{};
  affine[3][3] = 1;
  while (true) {
    for (std::size_t row = 0; row < 3; ++row) {
      for (auto& element : affine[row]) {
        if (!(std::cin >> element)) return 0;
      }
    }
    fmt::print("{}\n", data::axis_codes(affine));
  }
}

data::ConformTarget target_of(const std::vector<std::string>& words) {
  data::ConformTarget target;
  target.method = data::parse_conform_method(words.at(1));
  for (std::size_t axis = 0; axis < 3; ++axis)
    target.shape[axis] = std::atoll(words.at(2 + axis).c_str());
  const auto spacing = split(words.at(5), ',');
  for (std::size_t axis = 0; axis < 3; ++axis)
    target.spacing[axis] = std::atof(spacing.at(spacing.size() == 3 ? axis : 0).c_str());
  return target;
}

int conform_files(const std::vector<std::string>& words) {
  const auto target = target_of(words);
  const auto image = data::read_scan(words.at(6));
  const auto volume = data::conform(image, target, kThreads);
  write_values(words.at(7), volume);
  if (words.size() > 9) {
    const auto mask = data::conform_mask(data::read_scan(words[8]), image, target, kThreads);
    write_values(words[9], mask);
  }
  fmt::print("{{\"shape\": {}, \"affine\": {}}}\n", volume.shape, volume.affine);
  return 0;
}

int labels_and_back(const std::vector<std::string>& words) {
  const auto image = data::read_scan(words.at(6));
  const auto mask = data::conform_mask(image, image, target_of(words), kThreads);
  const auto native = data::to_native(mask, image, kThreads);
  write_values(words.at(7), native);
  fmt::print("{{\"shape\": {}, \"affine\": {}}}\n", native.shape, native.affine);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (!words.empty() && words[0] == "axes") return print_axes();
    if (words.size() >= 8 && words[0] == "conform") return conform_files(words);
    if (words.size() >= 8 && words[0] == "native") return labels_and_back(words);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(exit_code(error.kind()));
  }
  fmt::print(stderr, "conform_driver axes | conform ... | native ...\n");
  return 2;
}
