// SPDX-License-Identifier: Apache-2.0
// Names that our exports and imports agree on.
#pragma once

namespace ubique::meshnet {

/// Where an exported weight file carries its configuration, which upstream's files lack.
inline constexpr const char* kConfigKey = "meshnet_config";
/// Where it says that kernels were turned, and to which axes.
inline constexpr const char* kAxesKey = "meshnet_axes";
inline constexpr const char* kBrowserAxes = "LIA";

}  // namespace ubique::meshnet
