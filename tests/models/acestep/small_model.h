// SPDX-License-Identifier: Apache-2.0
// A whole model folder with fresh weights, written by the test itself.
#pragma once

#include <filesystem>

#include "tests/base/scratch.h"
#include "ubique/models/acestep/files/write_model.h"
#include "ubique/models/acestep/net/config/networks.h"

namespace ubique::test {

/// Sizes at which a second of sound takes a fraction of a second on one core.
inline acestep::NetworkConfigs smallest_networks() {
  auto networks = acestep::tiny_networks();
  networks.transformer.layers = 2;
  networks.transformer.heads = 2;
  networks.transformer.head_size = 16;
  networks.transformer.lyric.layers = 1;
  networks.transformer.lyric.hidden = 32;
  networks.transformer.lyric.inner = 64;
  networks.dcae.encoder.channels = networks.dcae.decoder.channels = {16, 16, 16, 16};
  networks.vocoder.initial_channels = 128;
  networks.vocoder.resblock_kernels = {3};
  networks.vocoder.resblock_dilations = {{1, 3}};
  return networks;
}

class SmallModel {
 public:
  explicit SmallModel(const acestep::NetworkConfigs& networks = smallest_networks(),
                      std::uint64_t seed = 3) {
    acestep::write_new_model(path(), networks, seed, c10::ScalarType::Float);
  }

  std::filesystem::path path() const { return scratch_.path() / "model"; }
  std::filesystem::path part(acestep::Part part) const { return path() / folder_name(part); }
  const std::filesystem::path& scratch() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
};

}  // namespace ubique::test
