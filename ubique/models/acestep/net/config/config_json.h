// SPDX-License-Identifier: Apache-2.0
// The config.json of each network, as the original's folders have them; parse_*_config() reads them
// back.
#pragma once

#include "ubique/base/text/json_fwd.h"
#include "ubique/models/acestep/net/config/config.h"

namespace ubique::acestep {

Json config_json(const Umt5Config& config);
Json config_json(const DitConfig& config);
Json config_json(const DcaeConfig& config);
Json config_json(const VocoderConfig& config);

}  // namespace ubique::acestep
