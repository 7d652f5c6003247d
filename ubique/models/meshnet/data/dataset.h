// SPDX-License-Identifier: Apache-2.0
// A dataset of scans with masks: conformed once, kept in the shared cache, loaded as batches.
#pragma once

#include <memory>
#include <vector>

#include "ubique/data/scans/study/scan_cache.h"
#include "ubique/engine/contract/dataset.h"
#include "ubique/models/meshnet/net/config.h"
#include "ubique/models/meshnet/net/loss.h"

namespace ubique::meshnet {

class ScanDataset final : public engine::Dataset {
 public:
  ScanDataset(std::vector<data::Subject> subjects, std::shared_ptr<data::ScanCache> cache,
              LossOptions loss);

  std::int64_t size() const override { return static_cast<std::int64_t>(subjects_.size()); }
  /// image f32 (B, 1, D, H, W), mask u8 (B, D, H, W).
  engine::Batch load(const std::vector<std::int64_t>& indices,
                     const engine::SampleRandoms& randoms) const override;
  std::string fingerprint() const override;

  const data::Subject& subject(std::int64_t index) const;
  data::CachedScan scan(std::int64_t index) const { return cache_->get(subject(index)); }

 private:
  std::vector<data::Subject> subjects_;
  std::shared_ptr<data::ScanCache> cache_;
  LossOptions loss_;
};

/// Keys: cache (folder; default: Ubique's own cache), cache_dtype (f16, f32, u8).
std::shared_ptr<data::ScanCache> open_scan_cache(const Config& config, const MeshNetConfig& network,
                                                 int threads);

}  // namespace ubique::meshnet
