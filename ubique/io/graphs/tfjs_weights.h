// SPDX-License-Identifier: Apache-2.0
// The weights of a TensorFlow.js model (weightsManifest and the raw files that it names), and typed
// access to members of model.json.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/graphs/tfjs.h"

namespace ubique::io {

/// A member of a JSON object; Input error, beginning with `where`, if it is missing or of another
/// type.
const Json& tfjs_member(const Json& object, std::string_view key, Json::value_t type,
                        const std::string& where);
const std::string& tfjs_text(const Json& object, std::string_view key, const std::string& where);
const Json& tfjs_list(const Json& object, std::string_view key, const std::string& where);

/// In manifest order; quantised weights are converted to f32.
std::vector<HostTensor> tfjs_weights(const Json& document, const std::string& file,
                                     const TfjsFiles& files);

/// A manifest with one group in one file, and the bytes of a weight in that file.
Json tfjs_manifest(std::span<const TfjsWeight> weights, const std::string& file);
std::vector<std::byte> tfjs_raw_bytes(const HostTensor& weight);

}  // namespace ubique::io
