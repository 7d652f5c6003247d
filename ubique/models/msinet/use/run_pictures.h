// SPDX-License-Identifier: Apache-2.0
// Maps of many pictures: some threads decode, one gives batches to the network, others draw and
// encode. What comes out does not depend on how many there are.
#pragma once

#include <string>
#include <vector>

#include "ubique/models/msinet/use/predictor.h"
#include "ubique/models/msinet/use/run_settings.h"

namespace ubique::msinet {

/// How much is done at once.
struct RunPace {
  int batch = 1;  ///< pictures or frames through the network together
  int decoders = 1, encoders = 1;
};

struct FailedInput {
  std::string input, error;
};

struct PicturesDone {
  std::size_t written = 0, skipped = 0;
  std::vector<FailedInput> failed;  ///< in the order of the jobs
  bool stopped = false;
  double seconds = 0;
};

/// A picture that cannot be read, is larger than settings.max_pixels or cannot hold the boxes is a
/// matter of that picture; what cannot be written ends the run. Large pictures come last, few at a
/// time, so that memory stays bounded.
PicturesDone run_pictures(Predictor& predictor, const std::vector<PictureJob>& jobs,
                          const RunSettings& settings, const RunPace& pace);

}  // namespace ubique::msinet
