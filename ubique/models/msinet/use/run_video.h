// SPDX-License-Identifier: Apache-2.0
// Maps of a video, frame by frame, smoothed over time and drawn. Memory use does not depend on its
// length.
#pragma once

#include "ubique/models/msinet/use/run_pictures.h"

namespace ubique::msinet {

struct VideoDone {
  std::int64_t frames = 0;
  double seconds = 0;
  bool stopped = false;
  std::string error;  ///< why it ended early; the frames before are written
};

/// A stream that breaks off after its first frame gives a shorter video and VideoDone::error; any
/// other failure throws, and nothing is written.
VideoDone run_video(Predictor& predictor, const VideoJob& job, const RunSettings& settings,
                    const RunPace& pace);

}  // namespace ubique::msinet
