// SPDX-License-Identifier: Apache-2.0
// Short songs of a model in training, for people to hear. One that fails is a warning.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/engine/contract/task.h"
#include "ubique/io/audio/audio.h"
#include "ubique/models/acestep/files/model_folder.h"
#include "ubique/models/acestep/net/model.h"
#include "ubique/models/acestep/train/settings.h"

namespace ubique::acestep {

class PreviewMaker {
 public:
  PreviewMaker(ModelFolder folder, PreviewSettings settings, std::uint64_t seed);

  /// Makes RUN/previews/epoch-N.ogg (.wav where that cannot be written) with the model's present
  /// weights; the same noise each time. False, with a warning, if it cannot be made.
  bool make(AcestepModel& model, std::int64_t epoch, const std::filesystem::path& run);

  /// Of the last previews, newest first.
  const std::vector<engine::ReportSound>& sounds() const { return sounds_; }
  const std::vector<engine::ReportPicture>& pictures() const { return pictures_; }

 private:
  io::Audio sample(AcestepModel& model) const;
  void keep(const io::Audio& audio, std::int64_t epoch, const std::filesystem::path& run);

  ModelFolder folder_;
  PreviewSettings settings_;
  std::uint64_t seed_;
  std::vector<engine::ReportSound> sounds_;
  std::vector<engine::ReportPicture> pictures_;
};

}  // namespace ubique::acestep
