// SPDX-License-Identifier: Apache-2.0
// The requests of a demo's commands.
#include "ubique/engine/walk/demo.h"

#include "tests/engine/runs.h"
#include "ubique/plan/wishes.h"

using namespace ubique;
using namespace ubique::engine;

TEST_CASE("demo: every command gets the person's wishes for the plan") {
  Request request;
  request.config.set_environment({});
  request.fallback = true;
  for (const auto& [key, value] : DemoFlags{{"device", "cpu"},
                                            {"threads", "1"},
                                            {"dtype", "f32"},
                                            {"memory", "2GiB"},
                                            {"deterministic", "true"},
                                            {"checkpointing", "off"},
                                            {"batch", "3"}}) {
    request.config.set_flag(key, value);
  }
  const auto own = demo_request(request, {{"limit", "2"}}, "out");
  const auto wishes = plan::read_wishes(own.config);
  CHECK(own.fallback);
  CHECK(wishes.device == "cpu");
  CHECK(wishes.threads == 1);
  CHECK(wishes.dtype == DType::F32);
  CHECK(wishes.memory == std::int64_t{2} << 30);
  CHECK(wishes.deterministic);
  CHECK(wishes.checkpointing == plan::Toggle::Off);
  CHECK(wishes.batch == 3);
  CHECK(own.config.get<std::int64_t>("limit", 0) == 2);
  own.config.finish();
}

TEST_CASE("demo: work without a device gets no wishes, which it would refuse as unknown") {
  Request request;
  request.config.set_environment({});
  request.config.set_flag("threads", "1");
  const auto own = demo_request(request, {}, "out", false);
  own.config.finish();
  CHECK_FALSE(own.config.has("threads"));
}
