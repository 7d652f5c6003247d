// SPDX-License-Identifier: Apache-2.0
// Adapters of PEFT and mlx-lm: the same logits and gradients as there, written and merged.
#include "ubique/models/codelm/files/adapter_files.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/models/codelm/golden.h"
#include "ubique/base/error.h"

using namespace ubique;
using test::codelm_golden, test::distance, test::golden_batch, test::golden_logits,
    test::masked_distance;

namespace {

struct AdapterCase {
  const char *name, *model;
};
constexpr AdapterCase kAdapterCases[] = {{"lora_bigcode_mqa", "bigcode_mqa"},
                                         {"lora_starcoder2_tied", "starcoder2_tied"}};

std::filesystem::path adapter_folder(const char* name, const char* form) {
  return test::shared_folder("golden/codelm") / name / form;
}

double logits_error(const test::CodelmGolden& golden, const std::string& kind) {
  const at::NoGradGuard no_gradients;
  const auto columns = golden_logits(golden).index_select(2, golden.at("logits_col_ids"));
  return masked_distance(golden, columns, golden.at("logits_" + kind + "_cols"));
}

}  // namespace

TEST_CASE("codelm: adapters of PEFT and mlx-lm give PEFT's logits and gradients") {
  for (const auto& [name, model_name] : kAdapterCases) {
    for (const auto* form : {"peft", "mlx"}) {
      CAPTURE(name);
      CAPTURE(form);
      auto golden = codelm_golden(name, model_name);
      if (!golden.model) return;
      auto& model = *golden.model;
      codelm::read_adapter(model, adapter_folder(name, form), "base");
      model.network().to(test::kDevice);
      model.adapters()->attach();
      model.network().eval();
      CHECK(logits_error(golden, "adapter") < 3e-5);
      const auto step = model.step(golden_batch(golden));
      CHECK(std::abs(step.loss.item<double>() - golden.json.at("loss_with_adapter").get<double>()) <
            3e-5);
      step.loss.backward();
      for (const auto& item : model.network().named_parameters()) {
        CAPTURE(item.key());
        CHECK(distance(item.value().grad(), golden.tensors.at("grad/" + item.key())) < 3e-5);
      }
      for (const auto& parameter : model.codelm().parameters()) {
        CHECK(!parameter.grad().defined());
      }
      model.merge_adapters();
      CHECK(logits_error(golden, "merged") < 3e-5);
    }
  }
}

TEST_CASE("codelm: an adapter is written as PEFT and as mlx-lm have it") {
  for (const auto& [name, model_name] : kAdapterCases) {
    auto golden = codelm_golden(name, model_name);
    if (!golden.model) return;
    const test::ScratchFolder folder;
    codelm::read_adapter(*golden.model, adapter_folder(name, "peft"), "base");
    codelm::write_adapter(*golden.model, folder.path() / "peft", codelm::AdapterForm::Peft);
    codelm::write_adapter(*golden.model, folder.path() / "mlx", codelm::AdapterForm::Mlx);
    for (const auto* file : {"peft/adapter_model.safetensors", "mlx/adapters.safetensors"}) {
      CAPTURE(file);
      const auto made = test::by_name(test::read_tensors(folder.path() / file));
      const auto wanted =
          test::by_name(test::read_tensors(test::shared_folder("golden/codelm") / name / file));
      REQUIRE(made.size() == wanted.size());
      for (const auto& [tensor, value] : wanted) CHECK(distance(made.at(tensor), value) == 0);
    }
  }
}

TEST_CASE("codelm: a target that matches nothing and an adapter of another model are refused") {
  auto golden = codelm_golden("lora_bigcode_mqa", "bigcode_mqa");
  if (!golden.model) return;
  CHECK_THROWS_WITH_AS(golden.model->add_adapters({.targets = {"c_attn", "up_proj"}}, "base"),
                       doctest::Contains("'up_proj' matches no layer of this network; expected "
                                         "some of c_attn, c_fc, c_proj"),
                       Error);
  CHECK_THROWS_AS(
      codelm::read_adapter(*golden.model, adapter_folder("lora_starcoder2_tied", "peft"), "base"),
      Error);
}
