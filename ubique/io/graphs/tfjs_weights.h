// SPDX-License-Identifier: Apache-2.0
// Members of model.json with the right kind, or an error that says which is missing.
// The weights of a TensorFlow.js model: what weightsManifest says, and the raw files it names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/io/graphs/tfjs.h"

namespace ubique::io {

/// Input errors begin with `where`: the file, and the part of it.
const Json& tfjs_member(const Json& object, std::string_view key, Json::value_t type,
                        const std::string& where);
const std::string& tfjs_text(const Json& object, std::string_view key, const std::string& where);
const Json& tfjs_list(const Json& object, std::string_view key, const std::string& where);

/// In the order of the manifest, quantised ones expanded.
std::vector<HostTensor> tfjs_weights(const Json& document, const std::string& file,
                                     const TfjsFiles& files);

/// One group in one file, and that file's bytes.
Json tfjs_manifest(std::span<const TfjsWeight> weights, const std::string& file);
std::vector<std::byte> tfjs_raw_bytes(const HostTensor& weight);

}  // namespace ubique::io
