// SPDX-License-Identifier: Apache-2.0
// Training as a call of the library, for programs that use the installed package: needs none of
// LibTorch's headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ubique/base/config/config.h"

namespace ubique::engine {

/// The device that the configuration selects, as `ubique info -v` describes it. Device error if it
/// is missing.
std::string device_summary_of(const Config& config, bool verbose);

struct FamilyRun {
  std::int64_t steps = 0;
  double train_loss = 0;
};

/// What `ubique train FAMILY --config ... -o OUTPUT` does; files of other trainers are understood.
FamilyRun train_family(const std::string& family, Config config,
                       const std::filesystem::path& output);

}  // namespace ubique::engine
