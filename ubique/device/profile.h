// SPDX-License-Identifier: Apache-2.0
// Profiles: facts about machines other than this one, compiled in or read from YAML files of the
// same form. Each figure of a profile names its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ubique/device/facts.h"

namespace ubique::device {

struct FigureSource {
  std::string figure;  ///< the key in the file: "memory_gbps"
  std::string text;    ///< "NVIDIA A100 datasheet: 2039 GB/s"
};

struct Profile {
  Facts facts;  ///< with facts.profile = id and the budget filled in
  std::vector<FigureSource> sources;
  std::vector<std::string> unsourced;  ///< figures that name no source; empty for those we ship
};

/// Ids of the compiled-in profiles, sorted.
std::vector<std::string> profile_ids();

/// A compiled-in profile by its id, or a file if the text names a path (it has a '/' or ends in
/// .yaml). Usage error with a "did you mean" for an unknown id, and for a file that is not a
/// profile.
Profile load_profile(const std::string& id_or_path);

/// Parses the text of a profile; `name` is the file's name in messages.
Profile read_profile(std::string_view text, const std::string& name);

/// Fills in peak rates and bandwidth, which no driver reports, from the profile with the same name
/// as the detected device. Figures that are known stay.
void add_datasheet_rates(Facts& facts);

}  // namespace ubique::device
