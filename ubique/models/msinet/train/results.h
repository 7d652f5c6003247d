// SPDX-License-Identifier: Apache-2.0
// The folder `results` of MSI-Net's own programs: weights named after data set and device, the loss
// history and its curve. Written beside our run folder; a later run can start from it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/models/msinet/net/weights.h"

namespace ubique::msinet {

/// ckpts/{latest,best}/model_DATASET_DEVICE.weights.h5, history/{train,valid}_DATASET_DEVICE.txt
/// with one number per line, and history/curve_DATASET_DEVICE.png.
class ResultsFolder {
 public:
  ResultsFolder(std::filesystem::path root, std::string dataset, std::string device)
      : root_(std::move(root)), dataset_(std::move(dataset)), device_(std::move(device)) {}

  std::filesystem::path weights(const std::string& which) const;  ///< "latest" or "best"
  std::filesystem::path history(const std::string& part) const;   ///< "train" or "valid"
  std::filesystem::path curve() const;

  /// Is no loss in the history smaller? Losses of earlier runs count too.
  bool is_lowest(double valid_loss) const;
  /// Writes the weights as latest, and as best if `best`; appends the losses to the history; draws
  /// the curve from the second epoch on. Every file is replaced atomically.
  void add_epoch(const MsiNetFile& file, double train_loss, std::optional<double> valid_loss,
                 bool best) const;

 private:
  std::filesystem::path named(const char* folder, const std::string& kind,
                              const char* ending) const;

  std::filesystem::path root_;
  std::string dataset_, device_;
};

/// One number per line, NaN for what is not finite; empty if there is no file. Input error for a
/// line that is not a number.
std::vector<double> read_history(const std::filesystem::path& path);

}  // namespace ubique::msinet
