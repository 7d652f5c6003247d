// SPDX-License-Identifier: Apache-2.0
// Opening a model for use.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/engine/checkpoint/checkpoint.h"
#include "ubique/engine/walk/open_model.h"
#include "ubique/models/meshnet/net/model.h"
#include "ubique/models/meshnet/use/open.h"

using namespace ubique;

TEST_CASE("open: a checkpoint of another family is refused by name") {
  const test::ScratchFolder folder;
  engine::Checkpoint checkpoint;
  checkpoint.family = "poolnet";
  checkpoint.config = Json::object();
  checkpoint.model = {{"head.weight", at::zeros({2, 2})}};
  engine::save_checkpoint(folder / "best", checkpoint);
  const auto message =
      test::refusal_of(ErrorKind::Input, [&] { meshnet::open_file(folder / "best"); });
  CHECK(test::contains(message, "another family; got poolnet, expected meshnet"));
}

TEST_CASE("open: a checkpoint whose header contradicts its weights is refused") {
  const test::ScratchFolder folder;
  meshnet::MeshNetModel model(meshnet::preset("meshnet-5"));
  engine::Checkpoint checkpoint;
  checkpoint.family = "meshnet";
  checkpoint.model = model.file().tensors;
  const Json lies = {{"kernel", 1}, {"classes", 7}, {"channels", 4096}};
  for (const auto& [key, value] : lies.items()) {
    checkpoint.config = model.config();
    checkpoint.config[key] = value;
    engine::save_checkpoint(folder / "best", checkpoint);
    const auto refused = [&](const auto& open) {
      CHECK(test::contains(test::refusal_of(ErrorKind::Input, open), "holds another network"));
    };
    refused([&] { meshnet::open_file(folder / "best"); });
    refused([&] { engine::open_model(folder / "best"); });
  }
}
