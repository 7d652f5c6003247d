// SPDX-License-Identifier: Apache-2.0
// Agreement of a label map with the truth: Dice, AVD, MCC. Dice exists in two variants, because
// papers differ: of the lesion alone, and the mean over all classes (macro). No torch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ubique::meshnet {

/// Voxels of one class against all others.
struct Confusion {
  std::int64_t tp = 0, fp = 0, fn = 0, tn = 0;

  double dice() const;  ///< (2tp + 1e-6) / (2tp + fp + fn + 1e-6): 1 where both are empty
  double avd() const;   ///< |predicted - true| / true; 0 or infinity where the truth is empty
  double mcc() const;   ///< Matthews correlation; 0 where it is undefined
};

/// One subject. Class 1 is the lesion (or the first tissue).
struct SubjectScore {
  std::string id;
  std::string size_bin;                     ///< "Q1" to "Q4", or empty
  std::vector<Confusion> classes;           ///< class 0 is the background
  double truth_mm3 = 0, predicted_mm3 = 0;  ///< of all classes but the background

  double lesion_dice() const { return classes.at(1).dice(); }
  double macro_dice() const;       ///< mean over all classes, background too
  double foreground_dice() const;  ///< mean over all classes but the background
  double avd() const { return classes.at(1).avd(); }
  double mcc() const { return classes.at(1).mcc(); }
};

/// One Confusion per class. Internal error if the sizes differ; Input error that names the label
/// for a label outside the classes.
std::vector<Confusion> compare_labels(std::span<const std::uint8_t> predicted,
                                      std::span<const std::uint8_t> truth, std::int64_t classes);

}  // namespace ubique::meshnet
