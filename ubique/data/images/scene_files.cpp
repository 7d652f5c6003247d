// SPDX-License-Identifier: Apache-2.0
// Writes scenes as a folder of stimuli, maps and fixations, in the layout of a real data set.
#include <mutex>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/parallel.h"
#include "ubique/base/text/json.h"
#include "ubique/data/images/fixations.h"
#include "ubique/data/images/scenes.h"

namespace ubique::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSceneNote = "scenes.json";
constexpr int kSceneVersion = 1;  // incremented when the same options give other scenes

Json scene_note(const SceneOptions& options) {
  auto note = json_document("scenes", kSceneVersion);
  note["train"] = options.train;
  note["valid"] = options.valid;
  note["seed"] = options.seed;
  note["height"] = options.size.height;
  note["width"] = options.size.width;
  return note;
}

void claim_scene_folder(const fs::path& folder, const SceneOptions& options) {
  std::error_code error;
  const auto path = folder / kSceneNote;
  if (fs::exists(path, error)) {
    check(parse_json(read_file(path, 1 << 20), path.string()) == scene_note(options),
          ErrorKind::Usage,
          "[data.scenes] {} holds scenes of other options (see {}); expected the same numbers, "
          "seed and size. Choose another folder, or remove this one.",
          folder.string(), kSceneNote);
    return;
  }
  check(
      !fs::exists(folder, error) || fs::is_empty(folder, error), ErrorKind::Usage,
      "[data.scenes] {} is not empty and holds no synthetic scenes; expected a new folder, so that "
      "nothing is overwritten.",
      folder.string());
  make_folder(folder);
  write_file(path, json_text(scene_note(options), 2) + "\n");
}

}  // namespace

void write_scenes(const fs::path& folder, const SceneOptions& options, int threads,
                  const SceneProgress& progress) {
  const auto total = options.train + options.valid;
  check(options.train >= 1 && options.valid >= 0 && options.train <= 1'000'000 &&
            options.valid <= 1'000'000,
        ErrorKind::Usage,
        "[data.scenes] got {} scenes to train and {} to validate with; expected 1 to 1,000,000 and "
        "0 to 1,000,000.",
        options.train, options.valid);
  make_scene(options, 0);  // refuses wrong options before anything is written
  claim_scene_folder(folder, options);
  for (const auto* kind : {"stimuli", "maps", "fixations"}) {
    for (const auto* part : {"train", "val"}) make_folder(folder / kind / part);
  }
  std::mutex mutex;
  std::int64_t done = 0;
  parallel_for(total, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto index = begin; index < end; ++index) {
      const auto scene = make_scene(options, index);
      const auto* part = index < options.train ? "train" : "val";
      const auto name = fmt::format("scene_{:06}", index);
      io::write_png(folder / "stimuli" / part / (name + ".png"), scene.picture);
      io::write_png(folder / "maps" / part / (name + ".png"), to_picture(scene.target));
      write_fixations(folder / "fixations" / part / (name + ".csv"), scene.fixations);
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, total);
    }
  });
}

}  // namespace ubique::data
