// SPDX-License-Identifier: Apache-2.0
// Look-ups in LibTorch's dispatcher, and the list of ops that Metal lacks.
#include "op_names.h"

#include <ATen/core/dispatch/Dispatcher.h>

namespace ubique::backend::sham {

std::string full_op_name(const std::string& name) {
  const auto full = name.find("::") == std::string::npos ? "aten::" + name : name;
  return full.substr(0, full.find('.'));
}

std::vector<std::string> known_ops() {
  std::set<std::string> names;
  for (auto& op : c10::Dispatcher::singleton().getAllOpNames()) names.insert(std::move(op.name));
  return {names.begin(), names.end()};
}

bool reaches_device(const std::string& op) {
  // Implemented in ops/kernels.cpp; they create or view memory, or draw numbers themselves.
  static const std::set<std::string> kOwnKernels = {"aten::_efficientzerotensor",
                                                    "aten::_local_scalar_dense",
                                                    "aten::_reshape_alias",
                                                    "aten::as_strided",
                                                    "aten::empty",
                                                    "aten::empty_strided",
                                                    "aten::native_dropout",
                                                    "aten::record_stream",
                                                    "aten::resize_",
                                                    "aten::unfold",
                                                    "aten::view"};
  if (kOwnKernels.count(op) != 0) return false;
  if (op == "aten::convolution" || op == "aten::convolution_backward") return true;
  for (const auto& overload : c10::Dispatcher::singleton().getAllOpNames()) {
    if (overload.name != op) continue;
    const auto handle = c10::Dispatcher::singleton().findOp(overload);
    if (handle->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return true;
  }
  return false;
}

const std::set<std::string>& ops_missing_on_metal() {
  static const std::set<std::string> kOps = {
      "aten::_adaptive_avg_pool3d",
      "aten::_adaptive_avg_pool3d_backward",
      "aten::_ctc_loss",
      "aten::_ctc_loss_backward",
      "aten::_fused_adagrad_",
      "aten::_linalg_eigh",
      "aten::_linalg_svd",
      "aten::_pdist_forward",
      "aten::_sample_dirichlet",
      "aten::_standard_gamma",
      "aten::adaptive_max_pool3d",
      "aten::adaptive_max_pool3d_backward",
      "aten::binomial",
      "aten::embedding_renorm_",
      "aten::fractional_max_pool2d",
      "aten::fractional_max_pool3d",
      "aten::geqrf",
      "aten::grid_sampler_2d_backward",
      "aten::grid_sampler_3d_backward",
      "aten::heaviside",
      "aten::index_reduce",
      "aten::linalg_eig",
      "aten::linalg_lu_solve",
      "aten::linalg_matrix_exp",
      "aten::linalg_qr",
      "aten::multi_margin_loss",
      "aten::multilabel_margin_loss_forward",
      "aten::poisson",
      "aten::put_",
      "aten::segment_reduce",
      "aten::take",
  };
  return kOps;
}

}  // namespace ubique::backend::sham
