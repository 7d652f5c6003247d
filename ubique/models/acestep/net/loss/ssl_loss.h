// SPDX-License-Identifier: Apache-2.0
// The loss that draws hidden states of the transformer towards features of a speech or music
// encoder trained without labels (MERT, mHuBERT).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ubique::acestep {

/// 1 - cosine similarity, averaged over frames, then over items: projections (B, T, size) are
/// stretched to the length of each item's features (frames, size).
at::Tensor ssl_loss(const at::Tensor& projections, const std::vector<at::Tensor>& features);

}  // namespace ubique::acestep
