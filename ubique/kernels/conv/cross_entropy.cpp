// SPDX-License-Identifier: Apache-2.0
// Chunked forward and backward, and the autograd node.
#include "ubique/kernels/conv/cross_entropy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/kernels/dispatch/autograd.h"

namespace ubique::kernels {
namespace {

/// What forward and backward need; detached.
struct CrossEntropyTerms {
  at::Tensor logits, target, weights;
  CrossEntropyOptions options;
  at::Tensor weight_sum;  // scalar

  at::Tensor chunk_logits(std::int64_t sample, std::int64_t first, std::int64_t count) const {
    return logits[sample].flatten(1).narrow(1, first, count).to(weights.scalar_type());  // (K, n)
  }
  at::Tensor chunk_target(std::int64_t sample, std::int64_t first, std::int64_t count) const {
    return target[sample].flatten().narrow(0, first, count).to(at::kLong);  // (n)
  }
  double smoothing_share() const {
    return options.label_smoothing / static_cast<double>(logits.size(1));
  }
};

template <typename Work>
void for_each_chunk(const CrossEntropyTerms& terms, const Work& work) {
  const auto positions = terms.target[0].numel();
  for (std::int64_t sample = 0; sample < terms.logits.size(0); ++sample) {
    for (std::int64_t first = 0; first < positions; first += terms.options.chunk) {
      work(sample, first, std::min(terms.options.chunk, positions - first));
    }
  }
}

/// Also sets terms.weight_sum.
at::Tensor cross_entropy_forward(CrossEntropyTerms& terms) {
  std::vector<at::Tensor> losses, sums;
  for_each_chunk(terms, [&](std::int64_t sample, std::int64_t first, std::int64_t count) {
    const auto logs = at::log_softmax(terms.chunk_logits(sample, first, count), 0);  // (K, n)
    const auto target = terms.chunk_target(sample, first, count);
    const auto of_target = terms.weights.index_select(0, target);  // (n)
    const auto hit = at::dot(logs.gather(0, target.unsqueeze(0)).squeeze(0), of_target);
    const auto all = at::dot(logs.sum(1), terms.weights);
    losses.push_back(
        hit.mul_(terms.options.label_smoothing - 1).sub_(all, terms.smoothing_share()));
    sums.push_back(of_target.sum());
  });
  terms.weight_sum = at::stack(sums).sum();
  const auto mean = at::stack(losses).sum().div_(terms.weight_sum);
  return at::where(terms.weight_sum.gt(0), mean, at::zeros_like(mean));
}

at::Tensor cross_entropy_backward(const CrossEntropyTerms& terms, const at::Tensor& gradient) {
  const auto smooth = terms.smoothing_share();
  const auto hit_share = 1 - terms.options.label_smoothing;
  const auto per_weight = at::where(terms.weight_sum.gt(0), gradient / terms.weight_sum,
                                    at::zeros_like(terms.weight_sum));
  const auto floor = terms.weights.unsqueeze(1) * smooth;  // (K, 1)
  auto result = at::empty_like(terms.logits);
  for_each_chunk(terms, [&](std::int64_t sample, std::int64_t first, std::int64_t count) {
    auto chunk = at::softmax(terms.chunk_logits(sample, first, count), 0);  // (K, n)
    const auto target = terms.chunk_target(sample, first, count).unsqueeze(0);
    const auto hit =
        terms.weights.index_select(0, target.squeeze(0)).unsqueeze(0).mul_(hit_share);  // (1, n)
    chunk.mul_(hit + floor.sum()).sub_(floor).scatter_add_(0, target, -hit).mul_(per_weight);
    result[sample].flatten(1).narrow(1, first, count).copy_(chunk);
  });
  return result;
}

class CrossEntropyBackward final : public torch::autograd::Node {
 public:
  explicit CrossEntropyBackward(CrossEntropyTerms terms) : terms_(std::move(terms)) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const PlainTensors plain;
    check(terms_.logits.defined(), ErrorKind::Internal,
          "[kernels.cross_entropy] backward ran twice through one loss.");
    return {cross_entropy_backward(terms_, gradients[0])};
  }
  void release_variables() override { terms_ = {}; }

 private:
  CrossEntropyTerms terms_;
};

}  // namespace

at::Tensor weighted_cross_entropy(const at::Tensor& logits, const at::Tensor& target,
                                  const at::Tensor& weights, const CrossEntropyOptions& options) {
  check(logits.dim() >= 2 && target.dim() + 1 == logits.dim() && target.size(0) == logits.size(0) &&
            logits.numel() == target.numel() * logits.size(1) && weights.numel() == logits.size(1),
        ErrorKind::Internal,
        "[kernels.cross_entropy] shapes do not fit; got {} logits, {} targets, {} weights.",
        logits.numel(), target.numel(), weights.numel());
  auto dense = logits.detach();
  // Chunks are views of (K, positions), which other layouts cannot give without a copy.
  if (!dense.is_contiguous() && !dense.is_contiguous(at::MemoryFormat::ChannelsLast3d)) {
    dense = dense.contiguous();
  }
  CrossEntropyTerms terms{dense, target, weights.detach(), options, {}};
  at::Tensor loss;
  {
    const PlainTensors plain;
    loss = cross_entropy_forward(terms);
  }
  if (!wants_gradient(logits)) return loss;
  attach(loss, std::make_shared<CrossEntropyBackward>(std::move(terms)), {logits});
  return loss;
}

}  // namespace ubique::kernels
