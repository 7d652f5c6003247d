// SPDX-License-Identifier: Apache-2.0
// Model folders and checkpoints.
#include "ubique/models/acestep/files/open.h"

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/files/library.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/engine/checkpoint/checkpoint_files.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/io/tensors/safetensors_reader.h"

namespace ubique::acestep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";
constexpr const char* kShippedModel = "models/acestep-tiny";

/// A checkpoint without its tensors.
engine::Checkpoint header_of(const fs::path& file) {
  engine::Checkpoint header;
  engine::read_model_metadata(io::SafetensorsFile(file).metadata(), file.string(), header);
  return header;
}

/// The best checkpoint of the newest run that makes songs: runs of the autoencoder or the vocoder
/// alone do not. Empty if there is none.
fs::path newest_song_model() {
  fs::path newest;
  fs::file_time_type time;
  std::error_code error;
  for (const auto& run : fs::directory_iterator(kRuns, error)) {
    const auto best = run.path() / "checkpoints" / "best";
    const auto changed = fs::last_write_time(best, error);
    if (error || (!newest.empty() && changed <= time)) continue;
    if (!engine::is_checkpoint(best) || engine::family_of(best) != "acestep") continue;
    if (header_of(best / engine::kModelFile).config.contains("part")) continue;
    newest = best;
    time = changed;
  }
  return newest;
}

/// The model folder that a checkpoint's header names.
fs::path base_of(const fs::path& checkpoint) {
  std::error_code ignored;
  const auto file =
      fs::is_directory(checkpoint, ignored) ? checkpoint / engine::kModelFile : checkpoint;
  const auto header = header_of(file);
  check(
      !header.config.contains("part"), ErrorKind::Input,
      "[acestep.open] {} holds a part of the codec alone; expected a whole model. `ubique convert "
      "acestep RUN --format part -o MODEL/music_...` puts it into one.",
      file.string());
  check(header.family == "acestep", ErrorKind::Input,
        "[acestep.open] {} is a model of another family; got {}, expected acestep.", file.string(),
        header.family);
  const auto named = header.config.find("base");
  const bool given = named != header.config.end() && named->is_string();
  const auto base = given ? named->get<std::string>() : std::string();
  check(!base.empty() && looks_like_model_folder(base), ErrorKind::Input,
        "[acestep.open] {} holds a transformer alone, and the model that it began with is not in "
        "'{}'; expected that folder there.",
        file.string(), printable(base));
  return base;
}

}  // namespace

fs::path shipped_model() { return find_data(kShippedModel); }

fs::path chosen_model(const Config& config) {
  const fs::path given = config.get("model", std::string());
  if (!given.empty()) return given;
  const auto newest = newest_song_model();
  if (!newest.empty()) {
    log::info("the newest run's best: {}", newest.string());
    return newest;
  }
  auto shipped = shipped_model();
  check(!shipped.empty(), ErrorKind::Usage,
        "[acestep.open] which model? got no --model, and there is no run of acestep in {}/; "
        "expected the folder of ACE-Step's weights, a run or a checkpoint.",
        kRuns);
  log::info("no --model: the small one that comes with the program, {}", shipped.string());
  return shipped;
}

ModelPlace find_model(const fs::path& path, const fs::path& lyric_vocabulary) {
  const auto model = engine::model_path(path);
  check_readable(model);
  std::error_code ignored;
  check(fs::exists(model, ignored), ErrorKind::Input,
        "[acestep.open] {} does not exist; expected the folder of ACE-Step's weights, a run or a "
        "checkpoint.",
        model.string());
  if (!engine::is_checkpoint(model)) return {.folder = read_model_folder(model, lyric_vocabulary)};
  return {.folder = read_model_folder(base_of(model), lyric_vocabulary), .checkpoint = model};
}

Parts open_parts(const ModelPlace& place, c10::Device device, c10::ScalarType dtype) {
  Parts parts(place.folder, device, dtype);
  if (place.checkpoint.empty()) return parts;
  const auto opened = engine::open_model(place.checkpoint, "acestep");
  auto* trained = dynamic_cast<AcestepModel*>(opened.get());
  check(trained != nullptr, ErrorKind::Internal, "[acestep.open] the model is of another family.");
  trained->dit().to(dtype);  // an adapter is added before anything is rounded
  trained->merge_adapter();
  for (auto& parameter : trained->dit().parameters()) parameter.requires_grad_(false);
  parts.set_transformer(trained->shared_dit());
  if (trained->trains_text()) parts.set_text_encoder(trained->text_encoder());
  return parts;
}

}  // namespace ubique::acestep
