// SPDX-License-Identifier: Apache-2.0
// Reference values of the original system for the network's tests, if they are available.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>

#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/models/trm/net/loss.h"
#include "ubique/models/trm/net/network.h"
#include "ubique/models/trm/net/slots.h"

namespace ubique::test {

/// One model of the golden data, with its weights.
struct GoldenModel {
  std::filesystem::path folder;
  Json provenance;
  at::ScalarType dtype = at::kFloat;
  std::shared_ptr<trm::Trm> network;

  std::map<std::string, at::Tensor> tensors(const std::string& file) const {
    return by_name(read_tensors(folder / (file + ".safetensors")));
  }
  Json json(const std::string& file) const {
    return Json::parse(read_file(folder / (file + ".json")));
  }
  trm::PuzzleBatch batch(const std::string& name) const {
    const auto all = tensors("batches");
    const auto of = [&](const char* key) { return all.at(name + "." + key).to(at::kInt); };
    return {of("inputs"), of("labels"), of("puzzle_identifiers")};
  }
};

inline trm::TrmConfig golden_config(const Json& arch) {
  auto fields = arch;
  for (const auto* key : {"batch_size", "H_layers", "forward_dtype", "no_ACT_continue"}) {
    fields.erase(key);
  }
  return trm::from_json(fields, "the golden data");
}

/// None if the reference data is absent.
inline std::optional<GoldenModel> golden_model(const std::string& name) {
  const auto folder = shared_folder("golden/trm/" + name);
  if (folder.empty()) return std::nullopt;
  GoldenModel model{folder, Json::parse(read_file(folder / "config.json")), at::kFloat, nullptr};
  const auto& arch = model.provenance["arch"];
  if (arch["forward_dtype"] == "bfloat16") model.dtype = at::kBFloat16;
  model.network = std::make_shared<trm::Trm>(golden_config(arch));
  engine::load_state(*model.network, read_tensors(folder / "state.safetensors"), "the golden data");
  return model;
}

/// Rows of the table for these puzzles.
inline at::Tensor rows_of(const trm::Trm& network, const at::Tensor& ids) {
  return network.puzzle_table().index_select(0, ids);
}

}  // namespace ubique::test
