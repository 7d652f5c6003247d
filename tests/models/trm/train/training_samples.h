// SPDX-License-Identifier: Apache-2.0
// Small networks, sets and plans for tests of training.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>

#include "tests/base/scratch.h"
#include "tests/shared.h"
#include "tests/tensors.h"
#include "tests/training.h"
#include "ubique/base/files/file.h"
#include "ubique/data/puzzles/sudoku/sudoku.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/trm/train/task.h"

namespace ubique::test {

inline plan::Plan trm_plan(std::int64_t micro = 4, std::int64_t accumulation = 1) {
  return training_plan("trm", micro, accumulation);
}

/// 4x4 sudokus with six clues or more, written where a task finds them.
inline void write_small_sudokus(const std::filesystem::path& folder, std::int64_t train,
                                std::int64_t test) {
  const auto shape = data::sudoku_shape(4);
  std::uint64_t number = 0;
  for (const auto& [split, count] : {std::pair{"train", train}, std::pair{"test", test}}) {
    if (count == 0) continue;
    auto set = data::empty_puzzle_set(data::sudoku_metadata(shape));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto made = data::make_sudoku(shape, 6, Random(7).fork(number++));
      data::add_example(set, data::sudoku_tokens(shape, made.puzzle),
                        data::sudoku_tokens(shape, made.solution));
      data::end_puzzle(set, 0);
      data::end_group(set);
    }
    data::write_puzzle_set(folder, split, set);
  }
}

/// A request as `ubique train trm` makes it, for a network of a few thousand weights.
inline engine::Request small_request(const std::filesystem::path& data,
                                     const std::vector<std::pair<std::string, std::string>>& more) {
  engine::Request request;
  request.config.set_environment({});
  const std::vector<std::pair<std::string, std::string>> usual = {
      {"data_paths", data.string()},
      {"arch.hidden_size", "16"},
      {"arch.num_heads", "2"},
      {"arch.expansion", "1"},
      {"arch.H_cycles", "2"},
      {"arch.L_cycles", "2"},
      {"arch.mlp_t", "true"},
      {"arch.puzzle_emb_len", "2"},
      {"arch.halt_max_steps", "4"},
      {"arch.halt_exploration_prob", "0.4"},
      {"epochs", "4"},
      {"eval_interval", "2"},
      {"global_batch_size", "4"},
      {"lr", "1e-3"},
      {"lr_warmup_steps", "3"}};
  for (const auto& [key, value] : usual) request.config.set_flag(key, value);
  for (const auto& [key, value] : more) request.config.set_flag(key, value);
  return request;
}

inline engine::TrainOptions trm_train_options_in(const std::filesystem::path& folder) {
  return training_options(folder, "trm");
}

/// Copies of the weights, the table and the state of the slots, on the host.
inline engine::NamedTensors whole_state(engine::Model& model) {
  engine::NamedTensors state;
  for (const auto& [name, tensor] : engine::state_dict(model.network())) {
    state.emplace_back(name, tensor.detach().cpu().clone());
  }
  for (const auto& [name, tensor] : model.persistent_state()) {
    state.emplace_back("carry." + name, tensor.cpu().clone());
  }
  return state;
}

}  // namespace ubique::test
