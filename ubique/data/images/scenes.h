// SPDX-License-Identifier: Apache-2.0
// Synthetic scenes to train and test saliency without any download: shapes of one hue, a few odd
// ones of another, and simulated fixations that mostly land on the odd ones. Local contrast alone
// does not find them, as every shape has it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ubique/data/images/image.h"

namespace ubique::data {

struct SceneOptions {
  std::int64_t train = 2000, valid = 300;  ///< number of scenes; validation scenes come last
  std::uint64_t seed = 42;
  FrameSize size{64, 80};  ///< 16 to 2048 a side; shapes and blur scale with it
};

struct SceneShape {
  enum class Form { Disc, Square, Bar } form = Form::Disc;
  double x = 0, y = 0, radius = 0, angle = 0;  ///< pixels, radians (of bars)
  bool odd = false;
};

struct Scene {
  io::Picture picture;
  std::vector<SceneShape> shapes;
  std::vector<Fixation> fixations;  ///< whole pixels, with repetitions
  Image target;                     ///< blurred fixation map, 0..255
  Image density;                    ///< distribution the fixations were drawn from; sums to 1
};

/// Scene number `index`; depends on seed, size and index only. Usage error for options out of
/// range.
Scene make_scene(const SceneOptions& options, std::int64_t index);

/// Sigma of the fixation blur for scenes of this size: 2.5 pixels at 64 x 80.
double scene_sigma(FrameSize size);

using SceneProgress = std::function<void(std::int64_t done, std::int64_t total)>;

/// Writes stimuli/, maps/ (PNG) and fixations/ (CSV of x and y), each with train/ and val/, and
/// scenes.json with the options. The same options may be written again; Usage error if the folder
/// holds anything else.
void write_scenes(const std::filesystem::path& folder, const SceneOptions& options, int threads = 1,
                  const SceneProgress& progress = {});

}  // namespace ubique::data
