// SPDX-License-Identifier: Apache-2.0
// The comparison of an exported file's output with the model's.
#include "ubique/export/check.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <limits>

#include "tests/base/scratch.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/export/quantise.h"

using namespace ubique;
using exporting::compare_outputs;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

engine::GraphExport model_of(const at::Tensor& output, std::vector<std::string> classes) {
  engine::GraphExport model;
  model.output = engine::host_tensor_of("output", output);
  model.classes = std::move(classes);
  return model;
}

}  // namespace

TEST_CASE("check: agreement is counted for each class, and classes that do not occur are named") {
  const auto expected = at::zeros({1, 4, 5, 2}, at::kLong);
  expected.view({40}).slice(0, 38).fill_(1);
  auto got = expected.clone();
  got.view({40})[39] = 0;
  const auto model = model_of(expected, {"none", "lesion", "skull", "scalp"});
  const auto checked = compare_outputs(got, model, DType::I8, "test");
  REQUIRE(checked.classes.size() == 4);
  CHECK(checked.classes[0].agreeing == 38);
  CHECK(checked.classes[1].expected == 2);
  CHECK(checked.classes[1].agreeing == 1);
  CHECK(exporting::agreement_text(checked) ==
        "97.50 % of labels agree (lesion 50.00 %); not seen: skull, scalp");
}

TEST_CASE("check: where every class agrees, none is named") {
  const auto logits = at::tensor({1.F, 0.F, 0.F, 1.F}).view({1, 2, 2, 1, 1});
  const auto checked = compare_outputs(logits, model_of(logits, {"a", "b"}), DType::F32, "test");
  CHECK(exporting::agreement_text(checked) == "100.00 % of labels agree");
}

TEST_CASE("check: NaN and infinity agree with themselves and with nothing else") {
  const auto output = at::tensor({kNan, kInfinity, 2.F, 0.F}).view({1, 2, 2, 1, 1});
  const auto model = model_of(output, {});
  CHECK(compare_outputs(output.clone(), model, DType::F32, "test").difference == 0);
  auto without = output.clone();
  without.view({4})[0] = 1;
  test::refusal_of(ErrorKind::Parity,
                   [&] { (void)compare_outputs(without, model, DType::F32, "test"); });
}

TEST_CASE("quantise: 8 bits cannot hold NaN, f16 can") {
  const auto weights =
      engine::host_tensor_of("w", at::tensor({1.F, kNan, 3.F, 4.F}).view({1, 1, 1, 2, 2}));
  CHECK(test::contains(
      test::refusal_of(ErrorKind::Input, [&] { (void)exporting::quantise_rows(weights); }),
      "'w' does not fit into 8 bits"));
  test::refusal_of(ErrorKind::Input, [&] { (void)exporting::quantise_whole(weights); });
  const auto half = engine::torch_tensor(exporting::to_half(weights)).view({4});
  CHECK(half[1].isnan().item<bool>());
  CHECK(half[2].item<float>() == 3);
}
