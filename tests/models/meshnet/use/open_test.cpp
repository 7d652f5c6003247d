// SPDX-License-Identifier: Apache-2.0
// Opening a model for use.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "ubique/engine/checkpoint/checkpoint.h"
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
