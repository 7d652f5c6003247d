// SPDX-License-Identifier: Apache-2.0
// Stretching in time and cosine similarity, in f32.
#include "ubique/models/acestep/net/loss/ssl_loss.h"

#include <ATen/ATen.h>

#include "ubique/base/error.h"

namespace ubique::acestep {

at::Tensor ssl_loss(const at::Tensor& projections, const std::vector<at::Tensor>& features) {
  check(projections.size(0) == static_cast<std::int64_t>(features.size()) && !features.empty(),
        ErrorKind::Internal,
        "[acestep.ssl_loss] got {} items and features of {}, expected as many.",
        projections.size(0), features.size());
  std::vector<at::Tensor> losses;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto own = projections[static_cast<std::int64_t>(i)].to(at::kFloat);  // (T, size)
    const auto stretched = at::upsample_linear1d(own.t().unsqueeze(0), {features[i].size(0)}, false)
                               .squeeze(0)
                               .t();  // (frames, size)
    losses.push_back((1 - at::cosine_similarity(stretched, features[i], 1)).mean());
  }
  return at::stack(losses).mean();
}

}  // namespace ubique::acestep
