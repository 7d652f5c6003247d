// SPDX-License-Identifier: Apache-2.0
// The settings of a training of the transformer: data, adapter, recipe, previews.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ubique/engine/contract/family.h"
#include "ubique/models/acestep/data/dataset.h"
#include "ubique/models/acestep/net/adapter.h"

namespace ubique::acestep {

/// Songs that a person listens to at each validation.
struct PreviewSettings {
  bool on = true;
  double seconds = 5;
  std::int64_t steps = 20;
  double guidance = 5;
  std::string tags, lyrics;  ///< empty: of the first held-out clip, else of the first clip
};

struct TrainSettings {
  std::string data, model;
  std::string lyric_vocabulary;
  bool fresh = false;                     ///< from new weights of the model's sizes
  bool train_text = false;                ///< the text encoder too
  std::optional<AdapterOptions> adapter;  ///< none: all weights are trained
  std::string start_adapter;              ///< a file whose numbers the adapter begins with
  std::optional<double> start_alpha;      ///< instead of what that file says
  std::string base_weights;               ///< "int8", "int4", "nf4"; empty = as the plan says
  SongDatasetOptions dataset;
  double crop_seconds = 0;
  double ssl_coefficient = 1;
  bool original_padding = false;
  std::int64_t val_clips = 32;  ///< held-out clips during the run; all at the end
  PreviewSettings preview;
  engine::Recipe recipe;
};

/// Usage error for values out of range and for contradicting keys.
TrainSettings read_train_settings(const engine::Request& request);
std::vector<engine::Option> acestep_train_options();
engine::Examples acestep_train_examples();

}  // namespace ubique::acestep
