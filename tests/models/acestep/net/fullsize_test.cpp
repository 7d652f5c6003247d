// SPDX-License-Identifier: Apache-2.0
// The lyric encoder and one block at the released sizes.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/golden.h"
#include "ubique/nn/layers/rope.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden;

namespace {

class LyricNetwork final : public nn::Network {
 public:
  LyricNetwork() { create({}); }
  void visit(nn::ParameterWalk& walk) override {
    acestep::walk_lyric(walk, "lyric_encoder", config, weights);
  }
  acestep::LyricConfig config;
  acestep::LyricWeights weights;
};

class BlockNetwork final : public nn::Network {
 public:
  BlockNetwork() { create({}); }
  void visit(nn::ParameterWalk& walk) override {
    acestep::walk_block(walk, "transformer_blocks.0", config, block);
  }
  acestep::DitConfig config;
  acestep::DitBlock block;
};

/// The input that weights_spec.json describes.
at::Tensor full_input(const Json& spec, const std::string& name) {
  for (const auto& entry : spec.at("inputs")) {
    if (entry.at("name") == "input.full." + name) return test::spec_tensor(entry).to(test::kDevice);
  }
  FAIL("no input ", name);
  return {};
}

}  // namespace

TEST_CASE("acestep: the lyric encoder at its released size gives the original's numbers") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto path = folder / "fullsize" / "weights_spec.json";
  const auto spec = test::read_json(path);
  const Golden golden(folder / "fullsize" / "io.safetensors");
  const at::NoGradGuard no_gradients;
  LyricNetwork lyric;
  test::fill_by_formula(lyric, path);
  const auto input = full_input(spec, "lyric");
  const auto offsets = acestep::lyric_offsets(input.size(1), lyric.config.hidden);
  const auto out = acestep::encode_lyrics(lyric.weights, lyric.config, input,
                                          golden.at("lyric.mask"), offsets.to(input.options()));
  CHECK(distance(out, golden.at("lyric.out")) < 1e-4);
}

TEST_CASE("acestep: a block at its released size gives the original's numbers") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto path = folder / "fullsize" / "weights_spec.json";
  const auto spec = test::read_json(path);
  const Golden golden(folder / "fullsize" / "io.safetensors");
  const at::NoGradGuard no_gradients;
  BlockNetwork network;
  test::fill_by_formula(network, path);
  const auto& config = network.config;
  const auto x = full_input(spec, "hidden"), context = full_input(spec, "context");
  const auto tables = [&](std::int64_t length) {
    return nn::rope_tables(length, config.head_size, test::kDevice, config.rope_theta);
  };
  acestep::DitPass pass{.config = config};
  pass.time = full_input(spec, "temb").unflatten(-1, {6, -1});
  std::tie(pass.cos, pass.sin) = tables(x.size(1));
  pass.context_mask = golden.at("block.context_mask").ne(0).unsqueeze(1).unsqueeze(1);
  const auto [cos, sin] = tables(context.size(1));
  const auto keys = context_keys(network.block.cross, context, cos, sin, config, false);
  CHECK(distance(run_block(network.block, x, keys, pass), golden.at("block.out")) < 1e-4);
}
