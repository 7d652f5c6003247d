// SPDX-License-Identifier: Apache-2.0
// Conforms and normalises scans as a network's configuration says.
#include "ubique/models/meshnet/data/preprocess.h"

namespace ubique::meshnet {

data::ConformTarget conform_target(const Preprocessing& preprocessing) {
  return {data::parse_conform_method(preprocessing.conform), preprocessing.shape,
          preprocessing.spacing};
}

data::PrepareOptions prepare_options(const MeshNetConfig& network, int threads) {
  const auto& how = network.preprocessing;
  return {conform_target(how),
          data::parse_normalization(how.normalization),
          how.low_quantile,
          how.high_quantile,
          static_cast<int>(network.classes),
          threads};
}

PreparedScan prepare_scan(data::Scan scan, const Preprocessing& preprocessing, int threads) {
  PreparedScan prepared{std::move(scan), {}};
  prepared.input = data::conform(prepared.scan, conform_target(preprocessing), threads);
  data::normalize(prepared.input, data::parse_normalization(preprocessing.normalization),
                  preprocessing.low_quantile, preprocessing.high_quantile, threads);
  return prepared;
}

}  // namespace ubique::meshnet
