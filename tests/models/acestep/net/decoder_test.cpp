// SPDX-License-Identifier: Apache-2.0
// The autoencoder and the vocoder against the original's numbers.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/golden.h"
#include "ubique/base/error.h"
#include "ubique/models/acestep/files/weights.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden;

namespace {

const std::string kWeightsFile = "diffusion_pytorch_model.safetensors";

template <typename Network, typename Config>
std::unique_ptr<Network> stored_network(const std::filesystem::path& folder,
                                        Config (*parse)(const Json&, const std::string&),
                                        const std::set<std::string>& ignored = {}) {
  const auto path = folder / "config.json";
  auto network = std::make_unique<Network>(parse(test::read_json(path), path.string()));
  acestep::read_weights(*network, folder / kWeightsFile, ignored);
  network->to(test::kDevice);
  network->refresh();
  return network;
}

}  // namespace

TEST_CASE("dcae: latents and spectrograms of short and long clips are the original's") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto network = stored_network<acestep::Dcae>(folder / "dcae", acestep::parse_dcae_config);
  const Golden golden(folder / "dcae" / "raw.safetensors");
  const at::NoGradGuard no_gradients;
  for (const std::string length : {"T1", "T3"}) {
    CAPTURE(length);
    CHECK(distance(network->encode(golden.at("in.mel." + length)),
                   golden.at("out.latent." + length)) < 5e-5);
    CHECK(distance(network->decode(golden.at("in.latent." + length)),
                   golden.at("out.mel." + length)) < 5e-5);
  }
  const auto& encoder = network->weights().encoder;
  const auto before = golden.at("mid.enc.down2.T3");
  CHECK(distance(acestep::vit_attention(encoder.levels[3].attention[0], before,
                                        network->config().head_size),
                 golden.at("mid.enc.down3.0.attn.T3")) < 2e-5);
  acestep::LocalSteps blocks;
  acestep::add_blocks(blocks, encoder.levels[3], network->config().head_size);
  CHECK(distance(acestep::run_steps(blocks, before), golden.at("mid.enc.down3.T3")) < 2e-5);
}

TEST_CASE("dcae: a spectrogram that is no whole number of latent frames is refused") {
  const acestep::Dcae network({.head_size = 4,
                               .encoder = {.channels = {8, 8},
                                           .layers = {1, 1},
                                           .attention = {false, true},
                                           .multiscales = {{}, {3}}},
                               .decoder = {.channels = {8, 8},
                                           .layers = {1, 1},
                                           .attention = {false, true},
                                           .multiscales = {{}, {3}}}});
  CHECK(network.encode(at::zeros({1, 2, 4, 6})).sizes() == at::IntArrayRef({1, 8, 2, 3}));
  CHECK(network.decode(at::zeros({1, 8, 2, 3})).sizes() == at::IntArrayRef({1, 2, 4, 6}));
  CHECK_THROWS_AS(network.encode(at::zeros({1, 2, 4, 5})), Error);
}

TEST_CASE("vocoder: waveforms are the original's, weight norm folded") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const auto config = folder / "vocoder" / "config.json";
  const auto unused = acestep::unused_shapes(
      acestep::parse_vocoder_config(test::read_json(config), config.string()));
  const auto network = stored_network<acestep::Vocoder>(
      folder / "vocoder", acestep::parse_vocoder_config, acestep::names_of(unused));
  const Golden golden(folder / "vocoder" / "io.safetensors");
  const at::NoGradGuard no_gradients;
  for (const auto& [name, tensor] : golden.all()) {
    if (!name.starts_with("folded.")) continue;
    CAPTURE(name);
    CHECK(distance(network->named_parameters()[name.substr(7)], tensor) < 1e-6);
  }
  CHECK(distance(network->backbone(golden.at("in.mel")), golden.at("out.backbone")) < 2e-5);
  CHECK(distance(network->forward(golden.at("in.mel")), golden.at("out.wave")) < 5e-5);
}
