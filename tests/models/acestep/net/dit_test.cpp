// SPDX-License-Identifier: Apache-2.0
// The diffusion transformer against the original's numbers: every part, whole passes, gradients.
#include "ubique/models/acestep/net/dit.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/golden.h"
#include "ubique/models/acestep/net/loss/ssl_loss.h"
#include "ubique/nn/layers/norm.h"
#include "ubique/nn/layers/rope.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden, test::relative_distance;

namespace {

std::unique_ptr<acestep::Dit> small_dit(const std::filesystem::path& folder) {
  return test::golden_dit(folder / "dit" / "config.json", folder / "dit" / "weights_spec.json");
}

/// Compares one tensor if the golden file has it.
void check_part(const Golden& golden, const std::string& name, const at::Tensor& made,
                double tolerance) {
  if (!golden.has("out." + name)) return;
  CAPTURE(name);
  CHECK(distance(made, golden.at("out." + name)) < tolerance);
}

/// The first block's parts, from the golden inputs of each.
void check_block_parts(const acestep::Dit& dit, const Golden& golden,
                       const acestep::DitContext& context) {
  if (!golden.has("out.proj_in_out") || !golden.has("out.temb")) return;
  const auto x = golden.at("out.proj_in_out");
  const auto& block = dit.weights().blocks[0];
  acestep::DitPass pass{.config = dit.config()};
  pass.time = golden.at("out.temb").unflatten(-1, {6, -1});
  std::tie(pass.cos, pass.sin) =
      nn::rope_tables(x.size(1), dit.config().head_size, test::kDevice, dit.config().rope_theta);
  pass.frames = golden.at("in.attention_mask");
  pass.context_mask = context.mask.ne(0).unsqueeze(1).unsqueeze(1);
  const auto m = (block.modulation + pass.time).chunk(6, 1);
  const auto normed = nn::rms_norm(x, {}, 1e-6);
  check_part(golden, "block0.norm1_out", normed, 2e-5);
  const auto attended = linear_attention(block.self, normed * (1 + m[1]) + m[0], pass);
  check_part(golden, "block0.attn_out", attended, 2e-5);
  auto y = x + m[2] * attended;
  const auto crossed = cross_attention(block.cross, y, context.keys[0], pass);
  check_part(golden, "block0.cross_attn_out", crossed, 2e-5);
  y = y + crossed;
  const auto fed = gated_convolution(block, nn::rms_norm(y, {}, 1e-6) * (1 + m[4]) + m[3]);
  check_part(golden, "block0.ff_out", fed, 2e-5);
  check_part(golden, "block0.out", run_block(block, x, context.keys[0], pass), 2e-5);
}

}  // namespace

TEST_CASE("acestep: formula weights are the golden ones") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto check = test::read_json(folder / "dit" / "generator_check.json");
  const auto spec = test::read_json(folder / "dit" / "weights_spec.json");
  std::size_t compared = 0;
  for (const auto& entry : spec.at("tensors")) {
    const auto found = check.at("first_values").find(entry.at("name").get<std::string>());
    if (found == check.at("first_values").end()) continue;
    const auto values = test::spec_tensor(entry).flatten();
    for (std::int64_t i = 0; i < 4; ++i) {
      CHECK(values[i].item<float>() == found->at(static_cast<std::size_t>(i)).get<float>());
    }
    ++compared;
  }
  CHECK(compared == check.at("first_values").size());
}

TEST_CASE("acestep: every part of the transformer and whole passes are the original's") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto dit = small_dit(folder);
  const at::NoGradGuard no_gradients;
  for (const std::string name : {"a", "b", "c", "d"}) {
    CAPTURE(name);
    const Golden golden(folder / "dit" / ("case_" + name + ".safetensors"));
    const auto condition = test::golden_condition(golden);
    const auto input = test::golden_input(golden);
    // One unit in the last place of an angle near 1000 is 6e-5.
    check_part(golden, "time_proj", acestep::Dit::time_sinusoids(input.timestep), 7e-5);
    check_part(golden, "embedded_timestep", dit->embed_time(input.timestep), 2e-5);
    check_part(golden, "proj_in_out", dit->embed_frames(input.latents), 2e-5);
    check_part(golden, "lyric_encoder_out",
               dit->encode_lyrics(condition.lyric_ids, condition.lyric_mask), 2e-5);
    const auto context = dit->encode(condition);
    check_part(golden, "encode.hidden_states", context.tokens, 2e-5);
    check_part(golden, "encode.mask", context.mask, 1e-9);
    check_block_parts(*dit, golden, context);
    CHECK(distance(dit->forward(input, context).velocity, golden.at("out.sample")) < 5e-5);
  }
}

TEST_CASE("acestep: a mask of ones is no mask, and items of a batch do not mix") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto dit = small_dit(folder);
  const at::NoGradGuard no_gradients;
  const Golden golden(folder / "dit" / "case_a.safetensors");
  auto input = test::golden_input(golden);
  const auto context = dit->encode(test::golden_condition(golden));
  const auto masked = dit->forward(input, context).velocity;
  input.frames = at::Tensor();
  CHECK(distance(dit->forward(input, context).velocity, masked) < 1e-5);
  auto condition = test::golden_condition(golden);
  for (auto* tensor :
       {&condition.text, &condition.text_mask, &condition.speaker, &condition.lyric_ids,
        &condition.lyric_mask, &input.latents, &input.timestep}) {
    *tensor = tensor->slice(0, 1, 2);
  }
  CHECK(distance(dit->forward(input, dit->encode(condition)).velocity, masked.slice(0, 1)) < 1e-5);
}

TEST_CASE("acestep: the control tensor is added as in the original") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto dit = small_dit(folder);
  const at::NoGradGuard no_gradients;
  const Golden golden(folder / "dit" / "case_a.safetensors");
  const Golden control(folder / "dit" / "control.safetensors");
  auto input = test::golden_input(golden);
  input.control = control.at("in.block_controlnet_hidden_states");
  input.control_scale = control.at("in.controlnet_scale").item<double>();
  const auto context = dit->encode(test::golden_condition(golden));
  CHECK(distance(dit->forward(input, context).velocity, control.at("out.sample")) < 5e-5);
}

namespace {

/// The golden loss: squared error and both encoders' losses.
at::Tensor golden_loss(const acestep::Dit& dit, const Golden& inputs, const Golden& golden,
                       bool recompute) {
  const auto context = dit.encode(test::golden_condition(inputs));
  const auto output = dit.forward(test::golden_input(inputs), context, {.recompute = recompute},
                                  /*with_projections=*/true);
  auto loss = (output.velocity - golden.at("in.target")).square().mean();
  for (std::size_t i = 0; i < output.projections.size(); ++i) {
    const auto number = std::to_string(i);
    std::vector<at::Tensor> features;
    for (std::int64_t item = 0; item < output.velocity.size(0); ++item) {
      features.push_back(golden.at("in.ssl." + number + "." + std::to_string(item)));
    }
    const auto own = acestep::ssl_loss(output.projections[i], features);
    CHECK(distance(own, golden.at("proj_loss." + dit.config().ssl_names[i])) < 2e-5);
    loss = loss + own;
  }
  return loss;
}

}  // namespace

TEST_CASE("acestep: losses and gradients are the original's, with and without checkpointing") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto norms = test::read_json(folder / "dit" / "grad_norms.json").at("norm");
  const Golden inputs(folder / "dit" / "case_a.safetensors");
  const Golden golden(folder / "dit" / "grad.safetensors");
  for (const bool recompute : {false, true}) {
    CAPTURE(recompute);
    const auto dit = small_dit(folder);
    const auto loss = golden_loss(*dit, inputs, golden, recompute);
    CHECK(distance(loss, golden.at("loss")) < 2e-5);
    loss.backward();
    for (const auto& item : dit->named_parameters()) {
      CAPTURE(item.key());
      const auto gradient = item.value().grad();
      REQUIRE(gradient.defined());
      const auto norm = norms.at(item.key()).get<double>();
      CHECK(std::abs(gradient.norm().item<double>() - norm) < 1e-4 * norm + 1e-7);
      if (golden.has("grad." + item.key())) {
        CHECK(relative_distance(gradient, golden.at("grad." + item.key())) < 1e-4);
      }
      if (golden.has("grad." + item.key() + ".rows")) {
        const auto rows = gradient.index_select(0, golden.at("lyric_embs.rows_index"));
        CHECK(relative_distance(rows, golden.at("grad." + item.key() + ".rows")) < 1e-4);
      }
    }
    const auto [cos, sin] = nn::rope_tables(12, 32, test::kDevice, dit->config().rope_theta);
    CHECK(distance(cos, golden.at("rope.cos")) < 1e-6);
    CHECK(distance(sin, golden.at("rope.sin")) < 1e-6);
  }
}
