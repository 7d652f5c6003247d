// SPDX-License-Identifier: Apache-2.0
// Attaches hand-written nodes to results.
#include "ubique/kernels/dispatch/autograd.h"

#include <torch/csrc/autograd/functions/utils.h>

namespace ubique::kernels {

bool wants_gradient(const at::Tensor& tensor) {
  return at::GradMode::is_enabled() && tensor.defined() && tensor.requires_grad();
}

void attach(at::Tensor& result, const std::shared_ptr<torch::autograd::Node>& node,
            const std::vector<at::Tensor>& inputs) {
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::set_history(result, node);
}

void attach(std::vector<at::Tensor>& results, const std::shared_ptr<torch::autograd::Node>& node,
            const std::vector<at::Tensor>& inputs) {
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::set_history(results, node);
}

}  // namespace ubique::kernels
