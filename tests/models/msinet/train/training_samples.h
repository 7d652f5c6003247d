// SPDX-License-Identifier: Apache-2.0
// Small training runs: a few scenes of 16 x 16 pixels, a network of a few channels.
#pragma once

#include <fstream>
#include <map>

#include "tests/base/scratch.h"
#include "tests/training.h"
#include "ubique/base/files/file.h"
#include "ubique/data/images/scenes.h"
#include "ubique/models/msinet/train/task.h"

namespace ubique::test {

using SmallFlags = std::map<std::string, std::string>;

inline std::filesystem::path put_scenes(const std::filesystem::path& folder,
                                        std::uint64_t seed = 1) {
  data::write_scenes(folder, {.train = 6, .valid = 3, .seed = seed, .size = {16, 16}});
  return folder;
}

inline engine::Request small_request(const std::filesystem::path& data, SmallFlags flags = {}) {
  flags.insert({{"data", data.string()},
                {"preset", "msinet-small"},
                {"width", "0.25"},
                {"size", "16,16"},
                {"lr", "1e-3"},
                {"epochs", "3"},
                {"seed", "3"}});
  engine::Request request;
  if (flags.contains("model")) request.model = flags.extract("model").mapped();
  request.device = device_name();
  for (const auto& [key, value] : flags) request.config.set_flag(key, value);
  return request;
}

inline plan::Plan small_plan() { return training_plan("msinet", 2); }

inline engine::TrainOptions small_options(const std::filesystem::path& folder) {
  return training_options(folder, "msinet");
}

inline engine::TrainResult small_run(const engine::Request& request,
                                     const engine::TrainOptions& options) {
  const auto task = msinet::make_task(request);
  request.config.finish();
  return engine::train(*task, small_plan(), options);
}

/// The loss of each step, in their order.
inline std::map<std::int64_t, double> step_losses(const std::filesystem::path& run) {
  std::map<std::int64_t, double> losses;
  std::ifstream file(run / "metrics.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto record = parse_json(line, "metrics.jsonl");
    if (record.contains("loss")) losses[record["step"].get<std::int64_t>()] = record["loss"];
  }
  return losses;
}

}  // namespace ubique::test
