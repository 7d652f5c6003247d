// SPDX-License-Identifier: Apache-2.0
// Latents to sound against the original's numbers.
#include "ubique/models/acestep/use/sound/decode.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "tests/models/acestep/golden.h"
#include "ubique/models/acestep/files/weights.h"

using namespace ubique;
using test::acestep_folder, test::distance, test::Golden;

namespace {

/// The golden autoencoder and vocoder on the test's device.
struct Decoders {
  explicit Decoders(const std::filesystem::path& folder)
      : dcae(acestep::parse_dcae_config(test::read_json(folder / "dcae" / "config.json"), "dcae")),
        vocoder(acestep::parse_vocoder_config(test::read_json(folder / "vocoder" / "config.json"),
                                              "vocoder")) {
    const std::string file = "diffusion_pytorch_model.safetensors";
    acestep::read_weights(dcae, folder / "dcae" / file);
    acestep::read_weights(vocoder, folder / "vocoder" / file,
                          acestep::names_of(acestep::unused_shapes(vocoder.config())));
    dcae.to(test::kDevice);
    dcae.refresh();
    vocoder.to(test::kDevice);
    vocoder.refresh();
  }

  acestep::Dcae dcae;
  acestep::Vocoder vocoder;
};

}  // namespace

TEST_CASE("acestep: spectrograms and sound of latents are the original's") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const Decoders decoders(folder);
  const Golden golden(folder / "dcae" / "full.safetensors");
  const at::NoGradGuard no_gradients;
  const auto mel = acestep::log_mel_of(decoders.dcae, golden.at("in.latents"));
  CHECK(distance(mel.slice(0, 0, 1), golden.at("mid.mel_decoded.0")) < 3e-4);
  const auto sound = acestep::sound_of(decoders.vocoder, mel);  // (2, 2, samples)
  CHECK(sound.size(-1) == 2 * 4096);
  CHECK(distance(sound[0].slice(-1, 0, 4096), golden.at("out.wave44k.0_first4096")) < 3e-4);
  const auto alone = acestep::sound_of(decoders.vocoder, mel.slice(0, 1, 2).slice(1, 1, 2));
  CHECK(distance(alone[0][0], sound[1][1]) < 1e-5);
}

TEST_CASE("acestep: a minute of latents is as loud as the original's, block by block") {
  const auto folder = acestep_folder();
  if (folder.empty()) return;
  const Decoders decoders(folder);
  const Golden golden(folder / "dcae" / "overlap.safetensors");
  const at::NoGradGuard no_gradients;
  const auto latents = test::formula_input("ov.z", {1, 8, 16, 700}).to(test::kDevice);
  const auto sound =
      acestep::sound_of(decoders.vocoder, acestep::log_mel_of(decoders.dcae, latents));
  CHECK(sound.size(-1) == golden.at("plain.length44k").item<std::int64_t>());
  const auto rms = sound[0].unflatten(-1, {-1, 4096}).square().mean(-1).sqrt();  // (2, 700)
  CHECK(distance(rms, golden.at("plain.block_rms44k")) < 3e-4);
}
