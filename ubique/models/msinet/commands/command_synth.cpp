// SPDX-License-Identifier: Apache-2.0
// `ubique data msinet synth`: synthetic scenes with an odd one out, and simulated fixations.
#include <fmt/format.h>

#include <iostream>

#include "ubique/base/terminal/progress.h"
#include "ubique/data/images/scenes.h"
#include "ubique/models/msinet/commands/commands.h"
#include "ubique/models/msinet/data/open_data.h"

namespace ubique::msinet {
namespace {

/// Thrown by the progress callback: scenes are whole files, so stopping between two loses nothing.
struct SynthStopped {};

data::SceneOptions read_scene_options(const Config& config) {
  data::SceneOptions options;
  options.train = config.get("count", options.train);
  options.valid = config.get("valid", options.valid);
  options.seed = static_cast<std::uint64_t>(config.get<std::int64_t>("seed", 42));
  const auto size =
      config.get("size", std::vector<std::int64_t>{options.size.height, options.size.width});
  check(size.size() == 2, ErrorKind::Usage,
        "[msinet.synth] --size takes height and width, such as 64,80; got {} numbers.",
        size.size());
  options.size = {static_cast<int>(size[0]), static_cast<int>(size[1])};
  config.finish();
  return options;
}

engine::Outcome synth(const engine::Request& request) {
  const auto options = read_scene_options(request.config);
  const auto folder = request.output.empty() ? std::filesystem::path("scenes") : request.output;
  const auto total = options.train + options.valid;
  Progress progress(
      {.title = "scenes", .total = total, .unit = "scenes", .style = request.progress}, std::cerr);
  std::int64_t written = 0;
  auto json = json_document("synth", 1);
  json["folder"] = folder.string();
  try {
    data::write_scenes(folder, options, hardware_threads(), [&](std::int64_t done, std::int64_t) {
      progress.advance(done - written);
      written = done;
      if (request.stop_requested && request.stop_requested()) throw SynthStopped();
    });
  } catch (const SynthStopped&) {
    json["scenes"] = written;
    return {
        fmt::format("stopped after {} of {} scenes; the same command continues\n", written, total),
        json, ExitCode::Interrupted};
  }
  progress.finish();
  json["scenes"] = total;
  json["seed"] = options.seed;
  return {fmt::format("{} scenes in {} (seed {}), {} of them for validation\ntrain on them: "
                      "ubique train msinet -d {} --preset msinet-small --size {},{}\n",
                      total, folder.string(), options.seed, options.valid, folder.string(),
                      options.size.height, options.size.width),
          json, ExitCode::Ok};
}

}  // namespace

engine::Command synth_command() {
  return {.verb = "data",
          .name = "synth",
          .summary = "make scenes in which one thing is odd, and simulated fixations",
          .needs_device = false,
          .options = {{"--count", "count", "N", "training scenes (2000)"},
                      {"--valid", "valid", "N", "validation scenes (300)"},
                      {"--size", "size", "H,W", "height and width (64,80)"},
                      {"--seed", "seed", "N", "the same seed gives the same scenes (42)"}},
          .examples = {{"ubique data msinet synth -o scenes",
                        "stimuli/, maps/ and fixations/, each with train/ and val/"}},
          .run = synth};
}

}  // namespace ubique::msinet
