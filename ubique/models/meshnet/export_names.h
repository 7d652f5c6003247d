// SPDX-License-Identifier: Apache-2.0
// Names that our exports and imports agree on.
#pragma once

namespace ubique::meshnet {

/// Where an exported weight file carries its configuration, which upstream's files lack.
inline constexpr const char* kConfigKey = "meshnet_config";

}  // namespace ubique::meshnet
