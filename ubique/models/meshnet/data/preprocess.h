// SPDX-License-Identifier: Apache-2.0
// A network's own preprocessing (conform, normalise) in the terms of the data room.
#pragma once

#include "ubique/data/scans/study/prepare.h"
#include "ubique/models/meshnet/net/config.h"

namespace ubique::meshnet {

data::ConformTarget conform_target(const Preprocessing& preprocessing);
data::PrepareOptions prepare_options(const MeshNetConfig& network, int threads);

/// A scan and its network input. Made without a device, so that it can be done ahead.
struct PreparedScan {
  data::Scan scan;
  data::Volume input;  ///< conformed and normalised
};

PreparedScan prepare_scan(data::Scan scan, const Preprocessing& preprocessing, int threads);

}  // namespace ubique::meshnet
