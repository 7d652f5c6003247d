// SPDX-License-Identifier: Apache-2.0
// The training task.
#include "ubique/models/meshnet/train/task.h"

#include <doctest/doctest.h>

#include "tests/base/scratch.h"

using namespace ubique;

TEST_CASE("task: a run does not go on with folds of another seed") {
  meshnet::TaskParts parts;
  parts.provenance = {{"split_seed", 7}};
  const meshnet::MeshNetTask task(std::move(parts));
  task.check_resume({{"split_seed", 7}});
  task.check_resume(Json::object());  // a checkpoint from before seeds were stored
  const auto message = test::refusal_of(ErrorKind::Input, [&] {
    task.check_resume({{"split_seed", 42}});
  });
  CHECK(test::contains(message, "got 7, expected 42"));
  CHECK(test::contains(message, "--split-seed 42"));
}
