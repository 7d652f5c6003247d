// SPDX-License-Identifier: Apache-2.0
// The golden models and inputs of the code language models, on the device under test.
#pragma once

#include <ATen/ATen.h>

#include <string>

#include "tests/device.h"
#include "tests/shared.h"
#include "tests/tensors.h"
#include "ubique/base/files/file.h"
#include "ubique/models/codelm/files/huggingface.h"
#include "ubique/models/codelm/net/model.h"
#include "ubique/nn/layers/token_loss.h"

namespace ubique::test {

struct CodelmGolden {
  std::unique_ptr<codelm::CodelmModel> model;
  std::map<std::string, at::Tensor> tensors;
  Json json;

  at::Tensor at(const std::string& name) const { return tensors.at(name).to(kDevice); }
};

/// The golden numbers of a folder with its model, or a null model where they are not there.
inline CodelmGolden codelm_golden(const std::string& name, const std::string& model_name) {
  const auto folder = shared_folder("golden/codelm");
  CodelmGolden golden;
  if (folder.empty()) return golden;
  golden.model = codelm::read_huggingface(folder / model_name);
  golden.model->codelm().to(kDevice);
  golden.model->codelm().refresh();
  golden.tensors = by_name(read_tensors(folder / name / "golden.safetensors"));
  golden.json = parse_json(read_file(folder / name / "golden.json"), name);
  return golden;
}

/// The golden batch: rows with left padding, whose labels are given unshifted.
inline engine::Batch golden_batch(const CodelmGolden& golden) {
  const auto labels = golden.at("labels");  // (2, T)
  const auto ignored = at::full({labels.size(0), 1}, nn::kIgnoredToken, labels.options());
  const auto next = at::cat({labels.slice(1, 1), ignored}, 1);
  engine::Batch batch;
  batch.tensors = {{"ids", golden.at("input_ids")},
                   {"labels", next},
                   {"positions", golden.at("position_ids")},
                   {"documents", golden.at("attention_mask")}};
  batch.samples = labels.size(0);
  batch.weight = next.ne(nn::kIgnoredToken).sum().item<double>();
  return batch;
}

inline at::Tensor golden_logits(const CodelmGolden& golden) {
  const auto& network = golden.model->codelm();
  return network.logits(network.forward(golden.at("input_ids"), golden.at("position_ids"),
                                        {golden.at("attention_mask"), {}}, {}));  // (2, T, V)
}

/// Largest difference at positions that are not padding.
inline double masked_distance(const CodelmGolden& golden, const at::Tensor& a,
                              const at::Tensor& b) {
  const auto mask = golden.at("attention_mask").to(at::kBool);
  return distance(a.index({mask}), b.index({mask}));
}

}  // namespace ubique::test
