// SPDX-License-Identifier: Apache-2.0
// Opening a model: from the original's folder, or from a checkpoint of ours whose header names that
// folder.
#pragma once

#include <filesystem>
#include <memory>

#include "ubique/base/config/config.h"
#include "ubique/engine/contract/batch.h"
#include "ubique/models/acestep/files/parts.h"
#include "ubique/models/acestep/net/model.h"

namespace ubique::acestep {

/// The transformer that a checkpoint's header describes, not yet with its weights. Input error if
/// the header contradicts them.
std::unique_ptr<AcestepModel> build_model(const Json& config, const engine::NamedTensors& weights);

struct TransformerUse {
  bool as_stored = false;  ///< in the dtype of its file instead of f32
  bool projectors = true;  ///< which only losses towards audio encoders need
};

/// The transformer of a model folder with its weights, on the CPU; for training and conversion.
std::unique_ptr<AcestepModel> read_transformer(const std::filesystem::path& path,
                                               const TransformerUse& use = {});
/// The text encoder of a model folder with its weights, in f32 on the CPU.
std::shared_ptr<Umt5> read_text_encoder(const ModelFolder& folder);

/// What a path is: the folder of a whole model, and the checkpoint whose transformer takes the
/// place of the folder's; empty = none.
struct ModelPlace {
  ModelFolder folder;
  std::filesystem::path checkpoint = {};
};

/// The small model that comes with the program; empty if it does not.
std::filesystem::path shipped_model();

/// The key `model`; else the newest run of this family; else the small model that comes with the
/// program, with a log line that says so. Usage error if there is none of them.
std::filesystem::path chosen_model(const Config& config);

/// `path` is a model folder, or a run or checkpoint, whose header names its model folder. Reads
/// headers alone.
ModelPlace find_model(const std::filesystem::path& path,
                      const std::filesystem::path& lyric_vocabulary = {});

/// The parts of a model; nothing of its folder is loaded yet.
Parts open_parts(const ModelPlace& place, c10::Device device, c10::ScalarType dtype);

}  // namespace ubique::acestep
