// SPDX-License-Identifier: Apache-2.0
// Reads the configuration in a checkpoint's header.
#include "ubique/serve/library/about_model.h"

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestSongFile = 1 << 20;

/// The weights of a run, of a checkpoint folder or of a file; empty if there are none of ours.
fs::path weights_of(const fs::path& path) {
  std::error_code ignored;
  for (const auto* below : {"checkpoints/best/model.safetensors",
                            "checkpoints/last/model.safetensors", "model.safetensors"}) {
    if (fs::is_regular_file(path / below, ignored)) return path / below;
  }
  const bool single = path.extension() == ".safetensors" && fs::is_regular_file(path, ignored);
  return single ? path : fs::path();
}

void take_config(const fs::path& weights, Json& about) {
  const io::SafetensorsFile file(weights);
  const auto config = file.metadata().find("config");
  if (config == file.metadata().end()) return;
  const auto json = parse_json(config->second, weights.string());
  if (!json.is_object()) return;
  if (json.contains("kind") && json["kind"].is_string()) about["puzzle"] = json["kind"];
  if (json.contains("rows") && json["rows"].is_number_integer()) about["rows"] = json["rows"];
  if (json.contains("cols") && json["cols"].is_number_integer()) about["columns"] = json["cols"];
  if (!json.contains("labels") || !json["labels"].is_array()) return;
  about["labels"] = Json::array();
  for (const auto& label : json["labels"]) {
    if (label.is_object() && label.contains("name")) about["labels"].push_back(label["name"]);
  }
}

/// The settings that suit a model, under the names of the original.
void take_song(const fs::path& path, Json& about) {
  const auto song = parse_json(read_file(path, kLargestSongFile), path.string());
  if (!song.is_object()) return;
  for (const auto& [key, name] :
       {std::pair{"prompt", "tags"}, std::pair{"lyrics", "lyrics"},
        std::pair{"audio_duration", "seconds"}, std::pair{"infer_step", "steps"}}) {
    if (song.contains(key) && song[key].is_primitive()) about[name] = song[key];
  }
}

}  // namespace

Json about_model(const fs::path& path) {
  auto about = Json::object();
  std::error_code ignored;
  try {
    const auto weights = weights_of(path);
    if (!weights.empty()) take_config(weights, about);
    if (fs::is_regular_file(path / "song.json", ignored)) take_song(path / "song.json", about);
  } catch (const Error&) {
    return Json::object();  // the job that uses it says what is wrong
  }
  return about;
}

}  // namespace ubique::serve
