// SPDX-License-Identifier: Apache-2.0
// Sessions: device, wishes and plan of one command.
#include "ubique/engine/session/session.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/nn/module.h>

#include "tests/engine/toy.h"
#include "ubique/probe/cache.h"

using namespace ubique;
using namespace ubique::engine;
using namespace ubique::test;

TEST_CASE("session: a device is opened with verdicts of what the plan rests on") {
  const ScratchFolder cache;
  const ScopedVariable variable("UBIQUE_CACHE_DIR", cache.path().c_str());
  ToyModel model;
  auto needs = model.needs();
  needs.convs = {{.dims = 2, .in = 4, .out = 4}};  // its layout is to be chosen
  plan::Wishes wishes;
  wishes.device = device_name();
  const Session session(needs, wishes);
  CHECK(session.plan().needs == "toy-8");
  CHECK((session.torch_device().type() == kDevice.type()));
  const auto kept = probe::load_cached_report(session.facts());
  REQUIRE(kept.has_value());
  CHECK(kept->of_op("conv2d").size() > 0);
  CHECK(kept->of_op("conv3d.dilated").empty());
  const auto count = kept->verdicts.size();
  const Session again(needs, wishes);  // from the cache
  CHECK(probe::load_cached_report(session.facts())->verdicts.size() == count);
}

TEST_CASE("session: a plan's numeric settings apply to the process") {
  auto plan = toy_plan();
  plan.compute_threads.value = 1;
  plan.autotune.value = true;
  (void)Session(plan);
  CHECK(at::get_num_threads() == 1);
  CHECK(at::globalContext().benchmarkCuDNN());
  CHECK_FALSE(at::globalContext().deterministicAlgorithms());
  plan.autotune.value = false;
  (void)Session(plan);
  CHECK_FALSE(at::globalContext().benchmarkCuDNN());
}
