// SPDX-License-Identifier: Apache-2.0
// A small autoencoder and vocoder with random weights, on the device under test.
#pragma once

#include "tests/models/acestep/golden.h"
#include "ubique/models/acestep/net/codec/dcae.h"
#include "ubique/models/acestep/net/codec/vocoder.h"

namespace ubique::test {

/// Four levels as the released one, two attention blocks of two scales, 8 columns of a spectrogram
/// for a latent frame.
inline acestep::DcaeConfig small_dcae() {
  const acestep::DcaeSide side{.channels = {8, 8, 16, 16},
                               .layers = {1, 1, 1, 2},
                               .attention = {false, false, false, true},
                               .multiscales = {{}, {}, {5}, {5}}};
  return {.head_size = 4, .encoder = side, .decoder = side};
}

/// 16 bands, 16 samples of a frame.
inline acestep::VocoderConfig small_vocoder() {
  return {.mels = 16,
          .depths = {1, 2},
          .dims = {8, 12},
          .upsample_rates = {4, 4},
          .upsample_kernels = {8, 8},
          .resblock_kernels = {3, 5},
          .resblock_dilations = {{1, 3}, {1, 3}},
          .initial_channels = 16,
          .hop = 16};
}

/// Weights that keep values near 1 from layer to layer.
inline void fill_randomly(nn::Network& network) {
  const at::NoGradGuard no_gradients;
  std::uint64_t seed = 0;
  for (auto& item : network.named_parameters()) {
    auto& value = item.value();
    const bool matrix = value.dim() >= 2;
    const auto inputs = matrix ? static_cast<double>(value[0].numel()) : 1.0;
    const auto random =
        random_tensor(value.sizes(), ++seed) * (matrix ? 1.2 / std::sqrt(inputs) : 0.1);
    const bool scale = !matrix && item.key().ends_with("weight");
    value.copy_(scale ? random + 1 : random);
  }
  network.to(kDevice);
  network.refresh();
}

struct SmallCodec {
  SmallCodec() : dcae(small_dcae()), vocoder(small_vocoder()) {
    fill_randomly(dcae);
    fill_randomly(vocoder);
  }
  acestep::Dcae dcae;
  acestep::Vocoder vocoder;
};

}  // namespace ubique::test
