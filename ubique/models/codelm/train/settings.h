// SPDX-License-Identifier: Apache-2.0
// The settings of a training: data, network, adapters, recipe.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ubique/data/code/packing.h"
#include "ubique/engine/contract/family.h"
#include "ubique/models/codelm/net/adapters.h"

namespace ubique::codelm {

struct TrainSettings {
  std::string data;                              ///< a folder of `data codelm git` or `import`
  std::vector<std::filesystem::path> sequences;  ///< or files, read directly
  std::vector<std::filesystem::path> val_sequences;
  std::string tokenizer;    ///< if it lies neither with the model nor with the data
  std::string model;        ///< what to start from; empty: a new network
  double val_share = 0.05;  ///< of the documents, if nothing is held out already
  data::PackingOptions packing;
  bool length_given = false;
  std::optional<AdapterOptions> adapter;
  std::string
      base_weights;  ///< "int8", "int4", "nf4": of the frozen base (QLoRA); empty = as it is
  std::int64_t val_rows = 256;  ///< validation rows during the run; all at the end
  std::int64_t sample_tokens = 48;
  std::vector<std::string> sample_prompts;
  engine::Recipe recipe;
};

/// Usage error for values out of range and for contradicting keys.
TrainSettings read_codelm_settings(const engine::Request& request);
std::vector<engine::Option> codelm_train_options();
engine::Examples codelm_train_examples();

/// A new GPT-BigCode from the keys layers, hidden, heads, inner, context, vocabulary, multi_query,
/// dropout. Usage error for impossible values.
CodelmConfig read_new_network(const Config& config);

}  // namespace ubique::codelm
