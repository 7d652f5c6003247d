// SPDX-License-Identifier: Apache-2.0
// Initial weights, parameter by parameter, from streams of their own.
#include "ubique/models/codelm/net/init.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {

void initialize(Codelm& network, const Random& random) {
  const at::NoGradGuard no_gradients;
  const auto& config = network.config();
  const auto names = tensor_names(config);
  const auto narrow = std::sqrt(2.0 * static_cast<double>(config.layers));
  std::uint64_t stream = 0;
  for (auto& item : network.named_parameters()) {
    auto& parameter = item.value();
    const auto& name = item.key();
    const auto own = random.fork(stream++);
    if (parameter.dim() == 1) {
      const bool is_norm_weight = name.ends_with(".weight");
      parameter.fill_(is_norm_weight ? 1 : 0);
      continue;
    }
    const bool residual =
        name.ends_with(names.output + ".weight") || name.ends_with(names.down + ".weight");
    const auto deviation = config.initializer_range / (residual ? narrow : 1);
    auto values = at::empty(parameter.sizes());
    own.fill_normal({values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())}, 0,
                    static_cast<float>(deviation), 0, at::get_num_threads());
    parameter.copy_(values);
  }
}

}  // namespace ubique::codelm
