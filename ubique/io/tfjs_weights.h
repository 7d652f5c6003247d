// SPDX-License-Identifier: Apache-2.0
// The weights of a TensorFlow.js model: what weightsManifest says, and the raw files it names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ubique/io/tfjs.h"

namespace ubique::io {

/// In the order of the manifest, quantised ones expanded.
std::vector<HostTensor> tfjs_weights(const Json& document, const std::string& file,
                                     const TfjsFiles& files);

/// One group in one file, and that file's bytes.
Json tfjs_manifest(std::span<const TfjsWeight> weights, const std::string& file);
std::vector<std::byte> tfjs_raw_bytes(const HostTensor& weight);

}  // namespace ubique::io
