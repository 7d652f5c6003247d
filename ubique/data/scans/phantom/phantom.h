// SPDX-License-Identifier: Apache-2.0
// Synthetic brain scans with lesions, masks and tissue maps, to train, test and demonstrate without
// any download. The same seed gives the same bits on every machine. Results on them say nothing
// about patients.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "ubique/data/scans/study/subject.h"
#include "ubique/data/scans/volume/volume.h"

namespace ubique::data {

enum class Contrast { T2, T1 };

std::string_view to_string(Contrast contrast);   ///< "t2", "t1"
Contrast parse_contrast(std::string_view text);  ///< Usage error otherwise

/// Values of the tissue maps.
enum class Tissue : std::uint8_t { Background, Scalp, Skull, Fluid, Grey, White, Lesion };
inline constexpr int kTissueClasses = 7;

struct PhantomOptions {
  std::int64_t count = 24;
  std::uint64_t seed = 42;
  std::int64_t size = 48;      ///< voxels along each side (about, with varied_grids): 16 to 512
  double field_of_view = 192;  ///< mm along each side; a head fills 190
  Contrast contrast = Contrast::T2;
  /// Spacing that differs between axes, axes in any order and direction. Off: cubic voxels in RAS
  /// order.
  bool varied_grids = true;
  double noise = 1, bias = 1;  ///< strength of noise and of the bias field; 0: none
  int threads = 1;

  double spacing() const { return field_of_view / static_cast<double>(size); }  ///< mm
};

struct Phantom {
  std::string id;           ///< "head_0007"
  std::string acquisition;  ///< "space_2x" or "space_no_accel"
  Volume image;
  LabelMap mask;    ///< 1 in lesions
  LabelMap tissue;  ///< Tissue of each voxel
  std::int64_t lesions = 0;
};

std::string phantom_id(std::int64_t index);  ///< "head_0007"
/// The acquisition of head number `index`, without generating it.
std::string phantom_acquisition(const PhantomOptions& options, std::int64_t index);

/// Head number `index`. Head and lesions depend on seed and index only, so that the same head can
/// be generated on a finer grid. Usage error for options out of range.
Phantom make_phantom(const PhantomOptions& options, std::int64_t index);

using PhantomProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Writes images/, masks/, labels/ (tissues) and two manifests, dataset_info.json with the masks
/// and dataset_info_tissue.json with the tissues. Images are int16 with slope and intercept. Heads
/// that an earlier run with the same options has finished are kept; `count` may grow. Usage error
/// if the folder holds heads of other options. `progress` is called after each head.
Cohort write_phantoms(const std::filesystem::path& folder, const PhantomOptions& options,
                      const PhantomProgress& progress = {});

}  // namespace ubique::data
