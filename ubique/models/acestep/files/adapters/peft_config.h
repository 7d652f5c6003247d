// SPDX-License-Identifier: Apache-2.0
// An adapter's settings as PEFT writes them: adapter_config.json, and the file that the original's
// trainer takes.
#pragma once

#include <filesystem>
#include <string>

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/acestep/net/adapter.h"

namespace ubique::acestep {

/// Input error for what is not supported: DoRA, trained biases, ranks that differ from layer to
/// layer, targets by pattern.
AdapterOptions read_peft_config(const std::filesystem::path& path);
Json peft_config_json(const AdapterOptions& options, const std::string& base);

}  // namespace ubique::acestep
