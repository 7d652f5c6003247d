// SPDX-License-Identifier: Apache-2.0
// The settings of a training: data, network, adapters, recipe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/data/code/packing.h"
#include "ubique/engine/contract/family.h"
#include "ubique/models/codelm/data/dataset.h"
#include "ubique/models/codelm/net/adapters.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::codelm {

/// Completions that a person reads at each validation.
struct SampleSettings {
  std::vector<std::string> prompts;
  std::int64_t count = 1;  ///< completions of each prompt
  std::int64_t trim = 0;   ///< letters that are shown at most; 0 = all
  nn::GenerateOptions generate;
};

/// The number of epochs by the tokens to train on.
struct EpochGoal {
  std::int64_t tokens = 0;  ///< 0 = no goal
  std::int64_t least = 1, most = 1000;
};

struct TrainSettings {
  std::string data;                              ///< a folder of `data codelm git` or `import`
  std::vector<std::filesystem::path> sequences;  ///< or files, read directly
  std::vector<std::filesystem::path> val_sequences;
  std::string tokenizer;            ///< if it lies neither with the model nor with the data
  std::string model;                ///< what to start from; empty: a new network
  std::int64_t most_documents = 0;  ///< to train on, the first ones; 0 = all
  double val_share = 0.05;          ///< of the documents, if nothing is held out already
  data::PackingOptions packing;
  bool length_given = false;
  std::optional<AdapterOptions> adapter;
  std::string
      base_weights;  ///< "int8", "int4", "nf4": of the frozen base (QLoRA); empty = as it is
  std::int64_t val_rows = 256;  ///< validation rows during the run; all at the end
  Curriculum curriculum;
  EpochGoal goal;
  SampleSettings samples;
  engine::Recipe recipe;
};

/// Usage error for values out of range and for contradicting keys.
TrainSettings read_codelm_settings(const engine::Request& request);
std::vector<engine::Option> codelm_train_options();
engine::Examples codelm_train_examples();

/// A new GPT-BigCode from the keys layers, hidden, heads, inner, context, vocabulary, multi_query,
/// dropout. Usage error for impossible values.
CodelmConfig read_new_network(const Config& config);

/// LoRA and the form of the frozen weights, as asked for; none without --lora.
std::optional<AdapterOptions> read_adapter_settings(const Config& config);
/// "int8", "int4" or "nf4"; empty = as they are. Usage error without `lora`.
std::string read_base_weights(const Config& config, bool lora);

/// What `plan codelm` plans for: a new network, or that of --set model=FOLDER, whose weights are
/// not read; whole or with adapters.
plan::Needs read_codelm_needs(const Config& config);

}  // namespace ubique::codelm
