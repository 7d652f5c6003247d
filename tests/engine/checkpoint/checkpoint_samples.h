// SPDX-License-Identifier: Apache-2.0
// Small checkpoints for the tests of checkpoints and run folders.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/base/child.h"
#include "tests/base/scratch.h"
#include "ubique/base/files/file.h"
#include "ubique/engine/checkpoint/checkpoint.h"

namespace ubique::test {

/// A checkpoint whose values all follow from its step, so that a mixture of two is detected.
inline engine::Checkpoint checkpoint_of(std::int64_t step) {
  engine::Checkpoint checkpoint;
  checkpoint.family = "meshnet";
  checkpoint.config = {{"channels", 5}, {"dilations", {1, 2, 4}}};
  checkpoint.provenance = {{"parent", nullptr}, {"data", "0123abcd"}};
  checkpoint.epoch = step / 10;
  checkpoint.step = step;
  checkpoint.scores = {{"dice", 0.5 + 0.001 * static_cast<double>(step)}, {"avd", 3.25}};
  const auto value = static_cast<double>(step);
  checkpoint.model = {{"model.0.weight", at::full({2, 3, 3, 3, 3}, value)},
                      {"model.0.bias", at::full({2}, -value)}};
  checkpoint.trainer = {{"adamw.exp_avg.model.0.weight", at::full({2, 3, 3, 3, 3}, 2 * value)}};
  checkpoint.trainer_state = {{"step", step}, {"scale", 65536.0}};
  return checkpoint;
}

/// Is it a complete checkpoint_of() its own step?
inline bool is_whole(const engine::Checkpoint& checkpoint) {
  const auto value = static_cast<double>(checkpoint.step);
  const auto all = [](const at::Tensor& tensor, double expected) {
    return tensor.eq(expected).all().item<bool>();
  };
  return checkpoint.model.size() == 2 && checkpoint.trainer.size() == 1 &&
         all(checkpoint.model[0].second, -value) && all(checkpoint.model[1].second, value) &&
         all(checkpoint.trainer[0].second, 2 * value) &&
         checkpoint.trainer_state.at("step") == checkpoint.step;
}

/// Sorted names in a folder, including hidden ones.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Writes a file in place, as a damaged disk would.
inline void damage_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

inline void flip_bit(const std::filesystem::path& path, std::size_t byte, int bit = 0) {
  auto content = read_file(path);
  content.at(byte) = static_cast<char>(content.at(byte) ^ (1 << bit));
  damage_file(path, content);
}

}  // namespace ubique::test
