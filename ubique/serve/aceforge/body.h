// SPDX-License-Identifier: Apache-2.0
// AceForge's body of a generation as a job of ours, so that scripts written for it go on working.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ubique/base/text/json.h"

namespace ubique::serve {

/// What a body's names stand for here. Each throws an Error that names what is not there.
struct AceForgeNames {
  std::function<std::string()> model;                             ///< reference of a music model
  std::function<std::string(const std::string& name)> adapter;    ///< reference of a style
  std::function<std::string(const std::string& url)> sound;       ///< reference of a clip
  std::function<std::string(const std::string& sound)> settings;  ///< its song.json, or empty
  std::function<double(const std::string& sound)> seconds;        ///< its length
};

/// The JSON of a job request. `seed` is taken where the body wants any. Keys that change nothing
/// here are ignored, as AceForge does; a task that it only pretends to have is a Usage error.
Json job_of_aceforge(const Json& body, const AceForgeNames& names, std::int64_t seed);

}  // namespace ubique::serve
