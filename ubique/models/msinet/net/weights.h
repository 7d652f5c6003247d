// SPDX-License-Identifier: Apache-2.0
// The weights of an MSI-Net on the host, together with its configuration.
#pragma once

#include <string>

#include "ubique/engine/contract/batch.h"
#include "ubique/models/msinet/net/config.h"

namespace ubique::msinet {

struct MsiNetFile {
  MsiNetConfig config;
  engine::NamedTensors tensors;  ///< f32, names and order of network.h
  std::string form;              ///< source format: "Keras .weights.h5", "torchvision VGG16 .pth"
  bool encoder_only = false;     ///< a pretrained encoder; ASPP module and decoder are missing
};

/// Input error unless these are the tensors that the configuration implies.
void check_weights(const MsiNetConfig& config, const engine::NamedTensors& tensors,
                   const std::string& where);

}  // namespace ubique::msinet
