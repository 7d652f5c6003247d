// SPDX-License-Identifier: Apache-2.0
// Shapes of steps: no more rows than the texts need, few different ones, and prompts together where
// that pays.
#include "ubique/models/codelm/use/step_shape.h"

#include <doctest/doctest.h>

using namespace ubique;

namespace {

const std::vector<std::int32_t> kText(2000, 1);

nn::Extension of(std::int64_t slot, std::size_t count) {
  return {slot, std::span(kText).first(count)};
}

}  // namespace

TEST_CASE("codelm step shape: a text alone has one row, wherever its slot is") {
  const std::vector<nn::Extension> low = {of(0, 1)}, high = {of(11, 1)};
  CHECK(codelm::step_shape(low, 16) == codelm::StepShape{.first = 0, .rows = 1, .width = 1});
  CHECK(codelm::step_shape(high, 16) == codelm::StepShape{.first = 11, .rows = 1, .width = 1});
}

TEST_CASE("codelm step shape: several texts have the first rows, in steps of few sizes") {
  CHECK(codelm::step_rows(1) == std::vector<std::int64_t>{1});
  CHECK(codelm::step_rows(3) == std::vector<std::int64_t>{1, 3});
  CHECK(codelm::step_rows(16) == std::vector<std::int64_t>{1, 8, 16});
  CHECK(codelm::step_rows(40) == std::vector<std::int64_t>{1, 8, 16, 32, 40});
  const std::vector<nn::Extension> few = {of(2, 1), of(7, 3)}, more = {of(2, 1), of(8, 1)};
  CHECK(codelm::step_shape(few, 16) == codelm::StepShape{.first = 0, .rows = 8, .width = 3});
  CHECK(codelm::step_shape(more, 16).rows == 16);
  CHECK(codelm::step_shape(few, 8).rows == 8);
}

TEST_CASE("codelm step shape: prompts go together unless most of the pass would be for nothing") {
  std::vector<nn::Extension> all;
  for (std::int64_t slot = 0; slot < 16; ++slot) all.push_back(of(slot, 60));
  const auto together = codelm::prompt_shape(all, 16, 60, 512);
  CHECK(together == codelm::StepShape{.rows = 16, .width = 64, .prompt_extent = 256});
  CHECK(together.predicted() == 1);
  const std::vector<nn::Extension> one = {of(9, 60)}, lazy = {of(0, 2), of(15, 60)};
  CHECK(codelm::prompt_shape(one, 16, 300, 512) ==
        codelm::StepShape{.first = 9, .rows = 1, .width = 64, .prompt_extent = 512});
  CHECK(codelm::prompt_shape(lazy, 16, 60, 512).width == 0);
  const std::vector<nn::Extension> long_one = {of(0, 1500)};
  CHECK(codelm::prompt_shape(long_one, 16, 1500, 2048).width == 0);
}
