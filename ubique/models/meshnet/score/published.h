// SPDX-License-Identifier: Apache-2.0
// Results that the paper (arXiv 2503.05531) reports on the Aphasia Recovery Cohort. Its DICE
// appears to be the mean over lesion and background: in every row 2 * DICE - 1 lies just below MCC,
// which is impossible for the Dice of the lesion alone.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ubique::meshnet {

struct PublishedRow {
  std::string_view model;
  std::int64_t parameters;
  double dice, dice_std;  ///< macro: lesion and background
  double avd, mcc;
};

inline constexpr std::array<PublishedRow, 14> kPublished = {{
    {"MeshNet-26", 147474, .876, .016, .245, .760},
    {"MeshNet-16", 56194, .873, .007, .249, .757},
    {"U-MAMBA-BOT", 7351400, .870, .012, .266, .750},
    {"MedNeXt-M", 17548963, .868, .017, .288, .745},
    {"SegResNet", 1176186, .867, .005, .268, .743},
    {"U-MAMBA-ENC", 7514280, .865, .010, .309, .740},
    {"MedNeXt-S", 5201315, .861, .012, .257, .729},
    {"Swin-UNETR", 18346844, .859, .025, .425, .730},
    {"MedNeXt-B", 10526307, .855, .016, .260, .718},
    {"U-KAN", 44070082, .851, .013, .321, .717},
    {"MeshNet-5", 5682, .848, .023, .280, .708},
    {"UNETR", 95763682, .847, .014, .397, .700},
    {"Residual U-Net", 1979610, .836, .005, .562, .685},
    {"V-Net", 45597898, .798, .018, .387, .614},
}};

}  // namespace ubique::meshnet
