// SPDX-License-Identifier: Apache-2.0
// The plain values and the tensors' shapes first, then tensor by tensor.
#include "ubique/engine/ranks/checkpoint_share.h"

#include <ATen/ATen.h>

#include "ubique/base/text/json.h"

namespace ubique::engine {
namespace {

Json shapes_of(const NamedTensors& tensors) {
  Json list = Json::array();
  for (const auto& [name, tensor] : tensors) {
    list.push_back({name, static_cast<int>(tensor.scalar_type()), tensor.sizes().vec()});
  }
  return list;
}

NamedTensors empty_tensors(const Json& shapes) {
  NamedTensors tensors;
  for (const auto& item : shapes) {
    const auto dtype = static_cast<at::ScalarType>(item[1].get<int>());
    tensors.emplace_back(item[0].get<std::string>(),
                         at::empty(item[2].get<std::vector<std::int64_t>>(), dtype));
  }
  return tensors;
}

Json header_of(const Checkpoint& checkpoint) {
  Json scores = Json::array();
  for (const auto& [name, value] : checkpoint.scores) scores.push_back({name, value});
  return {{"family", checkpoint.family},
          {"config", checkpoint.config},
          {"provenance", checkpoint.provenance},
          {"epoch", checkpoint.epoch},
          {"step", checkpoint.step},
          {"scores", scores},
          {"trainer_state", checkpoint.trainer_state},
          {"model", shapes_of(checkpoint.model)},
          {"trainer", shapes_of(checkpoint.trainer)}};
}

Checkpoint from_header(const Json& header) {
  Checkpoint checkpoint;
  checkpoint.family = header["family"];
  checkpoint.config = header["config"];
  checkpoint.provenance = header["provenance"];
  checkpoint.epoch = header["epoch"];
  checkpoint.step = header["step"];
  for (const auto& item : header["scores"]) {
    checkpoint.scores.emplace_back(item[0].get<std::string>(), item[1].get<double>());
  }
  checkpoint.trainer_state = header["trainer_state"];
  checkpoint.model = empty_tensors(header["model"]);
  checkpoint.trainer = empty_tensors(header["trainer"]);
  return checkpoint;
}

}  // namespace

std::optional<Checkpoint> share_from_first(const dist::World& world,
                                           std::optional<Checkpoint> mine) {
  std::vector<std::uint8_t> bytes;
  if (world.is_first() && mine) bytes = Json::to_cbor(header_of(*mine));
  const auto header = world.from_first(std::string(bytes.begin(), bytes.end()));
  if (header.empty()) return std::nullopt;
  if (!world.is_first()) mine = from_header(Json::from_cbor(header));
  for (const auto& [name, tensor] : mine->model) world.broadcast(tensor);
  for (const auto& [name, tensor] : mine->trainer) world.broadcast(tensor);
  return mine;
}

}  // namespace ubique::engine
