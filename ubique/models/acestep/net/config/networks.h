// SPDX-License-Identifier: Apache-2.0
// The configurations of all four networks of a model, and how a new one is described by settings.
#pragma once

#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/models/acestep/net/config/config.h"

namespace ubique::engine {
struct Option;
}

namespace ubique::acestep {

/// Of the released sizes by default.
struct NetworkConfigs {
  Umt5Config text;
  DitConfig transformer;
  DcaeConfig dcae;
  VocoderConfig vocoder;
};

/// A model of a few million parameters with every part of the released one: trains on a CPU.
NetworkConfigs tiny_networks();

/// The keys of network_options() over the sizes that the key `size` names: "tiny" or "released";
/// `size` is what counts without it. Usage error for sizes that do not fit together.
NetworkConfigs read_networks(const Config& config, const std::string& size = "tiny");
std::vector<engine::Option> network_options();

}  // namespace ubique::acestep
