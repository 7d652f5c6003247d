// SPDX-License-Identifier: Apache-2.0
// Maps of many pictures: threads decode, one thread runs batches through the network, others draw
// and encode. Results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ubique/models/msinet/use/predictor.h"
#include "ubique/models/msinet/use/run_settings.h"

namespace ubique::msinet {

/// Batch size and thread counts of a run.
struct RunPace {
  int batch = 1;  ///< pictures or frames through the network together
  int decoders = 1, encoders = 1;
};

struct FailedInput {
  std::string input, error;
};

struct PictureResult {
  std::filesystem::path picture, map, overlay;  ///< overlay: empty without --overlay
  bool alpha_ignored = false;                   ///< the picture is transparent in places
};

struct PicturesDone {
  std::size_t written = 0, skipped = 0;
  std::vector<PictureResult> results;  ///< written now or earlier, in the order of the jobs
  std::vector<FailedInput> failed;     ///< in the order of the jobs
  bool stopped = false;
  double seconds = 0;
};

/// A note for the log about a picture that takes long and much memory; empty for smaller ones.
std::string large_picture_note(const std::string& name, std::int64_t pixels);

/// A picture that cannot be read, is larger than settings.max_pixels or lies outside of a box fails
/// alone; a failed write ends the run. Large pictures come last, few at a time, which bounds
/// memory.
PicturesDone run_pictures(Predictor& predictor, const std::vector<PictureJob>& jobs,
                          const RunSettings& settings, const RunPace& pace);

}  // namespace ubique::msinet
