// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a real trainer: every tensor equals the one that Python saved as safetensors;
// skipped where the golden files are missing.
#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/io/samples.h"
#include "ubique/io/tensors/safetensors_reader.h"
#include "ubique/io/torch/torch_file.h"

using namespace ubique;
namespace fs = std::filesystem;

namespace {

const fs::path kShared = fs::path(UBIQUE_SOURCE_DIR) / ".." / "shared";

bool missing(const fs::path& path) {
  if (fs::exists(path)) return false;
  MESSAGE("skipped: no ", path.string());
  return true;
}

}  // namespace

TEST_CASE("torch_file: a trainer's checkpoint has the weights that Python saved as safetensors") {
  for (const std::string name : {"meshnet5", "meshnet_c3"}) {
    const auto path = kShared / "golden" / "meshnet" / (name + "_final.pt");
    if (missing(path)) return;
    const auto file = io::read_torch_file(path);
    const io::SafetensorsFile golden(path.parent_path() / (name + "_state_after3.safetensors"));
    CHECK(golden.tensors().size() == 65);
    std::size_t found = 0;
    for (const auto& tensor : golden.tensors()) {
      CAPTURE(tensor.name);
      const auto* same = file.find("model_state_dict/" + tensor.name);
      REQUIRE(same != nullptr);
      CHECK(same->dtype == tensor.dtype);
      CHECK(same->shape == tensor.shape);
      CHECK(test::text_of(same->bytes) == test::text_of(golden.bytes(tensor)));
    }
    for (const auto& tensor : file.tensors) found += tensor.name.starts_with("model_state_dict/");
    CHECK(found == 65);
    CHECK(file.tensors.size() == 65 + 3 * 38);  // and the optimizer's step and moments
    CHECK(file.find("optimizer_state_dict/state/37/exp_avg_sq") != nullptr);
    CHECK(file.tree["training_state"]["global_step"] == 3);
  }
}

TEST_CASE("torch_file: a checkpoint from a Mac opens, its schedule is readable JSON") {
  const auto path = kShared / "data" / "meshnet" / "arc_fold0_restart0_final.pt";
  if (missing(path)) return;
  const auto file = io::read_torch_file(path);
  const auto* weight = file.find("model_state_dict/network.1.conv.weight");
  REQUIRE(weight != nullptr);
  CHECK(weight->dtype == DType::F32);
  CHECK(weight->shape == io::Shape{26, 26, 3, 3, 3});
  const auto* steps = file.find("model_state_dict/network.0.bn.num_batches_tracked");
  REQUIRE(steps != nullptr);
  CHECK(steps->dtype == DType::I64);
  CHECK(steps->shape.empty());
  const auto& tree = file.tree;
  CHECK(tree["training_state"].dump() ==
        R"({"epoch":49,"best_dice":0.0,"best_epoch":0,"global_step":7400})");
  CHECK(tree["config"].dump() == R"({"learning_rate":0.001,"weight_decay":3e-05,"epochs":50})");
  CHECK(tree["scaler_state_dict"].dump() == "{}");
  CHECK(tree["scheduler_state_dict"]["total_steps"] == 7400);
  CHECK(tree["scheduler_state_dict"]["_last_lr"][0] == 1.0459732793954945e-09);
  const auto& group = tree["optimizer_state_dict"]["param_groups"][0];
  CHECK(group["betas"].dump() == "[0.9499999954026674,0.999]");
  CHECK(group["fused"].is_null());
  CHECK(group["params"].size() == 38);
  const auto& state = tree["optimizer_state_dict"]["state"]["0"];
  CHECK(state["exp_avg"]["$tensor"] == "optimizer_state_dict/state/0/exp_avg");
}

TEST_CASE("torch_file: a real checkpoint's weights survive writing") {
  const auto path = kShared / "golden" / "meshnet" / "meshnet_c3_final.pt";
  if (missing(path)) return;
  const auto file = io::read_torch_file(path);
  const test::ScratchFolder folder;
  io::write_torch_file(folder / "copy.pt", file.tensors, "all", {{"config", file.tree["config"]}});
  const auto copy = io::read_torch_file(folder / "copy.pt");
  REQUIRE(copy.tensors.size() == file.tensors.size());
  for (std::size_t i = 0; i < copy.tensors.size(); ++i) {
    CHECK(copy.tensors[i].name == "all/" + file.tensors[i].name);
    CHECK(copy.tensors[i].bytes == file.tensors[i].bytes);
  }
  CHECK(copy.tree["config"] == file.tree["config"]);
}
