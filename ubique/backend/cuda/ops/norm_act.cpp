// SPDX-License-Identifier: Apache-2.0
// ubique::norm_act and its backward on NVIDIA cards (sources/norm_act.cu). On an H200 a layer of 32
// channels at 256³ in f16 takes 0.9 ms forward; LibTorch's batch norm and ReLU take 3.5 ms.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/library.h>

#include "../runtime/vectors.h"

namespace ubique::backend {
namespace {

using cuda::LaunchShape;

/// As norm_act.cu declares it.
struct NormArgument {
  const float *weight, *bias, *mean, *inverse_deviation, *dropout;
  long long sample_vectors;
  int groups;
};

constexpr int kNormThreads = 256, kMaxChannels = 512, kBlocksPerProcessor = 8;

bool does_norm_act(const at::Tensor& x) {
  return cuda::has_vectors(x) && x.dim() == 5 && x.numel() > 0 &&
         x.is_contiguous(at::MemoryFormat::ChannelsLast3d) && x.size(1) % cuda::lanes_of(x) == 0 &&
         x.size(1) <= kMaxChannels && cuda::can_run_kernels();
}

/// Launch parameters and kernel arguments of one call.
class NormCall {
 public:
  NormCall(const at::Tensor& x, std::int64_t activation)
      : x_(x),
        lanes_(cuda::lanes_of(x)),
        groups_(static_cast<int>(x.size(1)) / lanes_),
        vectors_(x.numel() / lanes_),
        defines_{cuda::scalar_define(x), fmt::format("ACTIVATION={}", activation)} {
    threads_ = kNormThreads / groups_ * groups_;  // each thread keeps the same channels
    if (threads_ == 0) threads_ = groups_;
    const auto most = std::int64_t{kBlocksPerProcessor} * cuda::card_limits(x.device()).processors;
    blocks_ = std::clamp<std::int64_t>(vectors_ / threads_, 1, most);
  }

  NormArgument norm(const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& mean,
                    const at::Tensor& inverse_deviation, const std::optional<at::Tensor>& scale) {
    if (scale) dropout_ = scale->to(at::kFloat).contiguous();
    return {weight.const_data_ptr<float>(),
            bias.const_data_ptr<float>(),
            mean.const_data_ptr<float>(),
            inverse_deviation.const_data_ptr<float>(),
            scale ? dropout_.const_data_ptr<float>() : nullptr,
            vectors_ / x_.size(0),
            groups_};
  }

  /// Launches a kernel over all vectors.
  template <typename... Args>
  void sweep(const char* function, int shared_bytes, Args... args) const {
    find(function).launch(x_.device(), LaunchShape{blocks_, threads_, shared_bytes}, args...);
  }
  /// Launches one block per channel, over the partial sums of a sweep.
  template <typename... Args>
  void per_channel(const char* function, Args... args) const {
    find(function).launch(x_.device(), LaunchShape{x_.size(1), 128, 0}, args...);
  }

  at::Tensor floats(at::IntArrayRef sizes) const {
    return at::empty(sizes, x_.options().dtype(at::kFloat).memory_format(std::nullopt));
  }
  at::Tensor rows() const { return floats({blocks_, 2, x_.size(1)}); }
  int row_bytes() const { return 2 * threads_ * lanes_ * static_cast<int>(sizeof(float)); }
  long long vectors() const { return vectors_; }
  int groups() const { return groups_; }
  int blocks() const { return static_cast<int>(blocks_); }
  double count() const { return static_cast<double>(x_.numel() / x_.size(1)); }

 private:
  const cuda::Kernel& find(const char* function) const {
    return cuda::kernel(x_.device(), "norm_act.cu", function, defines_);
  }

  at::Tensor x_, dropout_;
  int lanes_, groups_, threads_ = 0;
  long long vectors_;
  std::int64_t blocks_ = 0;
  std::vector<std::string> defines_;
};

at::Tensor cuda_norm_act_recompute(const at::Tensor& x, const at::Tensor& weight,
                                   const at::Tensor& bias, const std::optional<at::Tensor>& scale,
                                   const at::Tensor& mean, const at::Tensor& inverse_deviation,
                                   std::int64_t activation) {
  NormCall call(x, activation);
  auto result = at::empty_like(x);
  call.sweep("norm_act", 0, x.const_data_ptr(), result.mutable_data_ptr(), call.vectors(),
             call.norm(weight, bias, mean, inverse_deviation, scale));
  return result;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cuda_norm_act(
    const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
    const std::optional<at::Tensor>& scale, std::int64_t activation, double epsilon) {
  NormCall call(x, activation);
  auto rows = call.rows();
  auto mean = call.floats({x.size(1)}), inverse_deviation = call.floats({x.size(1)});
  call.sweep("norm_moments", call.row_bytes(), x.const_data_ptr(), call.vectors(), call.groups(),
             rows.mutable_data_ptr<float>());
  call.per_channel("norm_statistics", x.const_data_ptr(), rows.const_data_ptr<float>(),
                   call.blocks(), call.groups(), call.count(), epsilon,
                   mean.mutable_data_ptr<float>(), inverse_deviation.mutable_data_ptr<float>());
  auto result =
      cuda_norm_act_recompute(x, weight, bias, scale, mean, inverse_deviation, activation);
  return {result, mean, inverse_deviation};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cuda_norm_act_backward(
    const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& weight,
    const at::Tensor& bias, const std::optional<at::Tensor>& scale, const at::Tensor& mean,
    const at::Tensor& inverse_deviation, std::int64_t activation) {
  NormCall call(x, activation);
  auto of_x = gradient.to(x.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast3d);
  auto of_weight = call.floats({x.size(1)}), of_bias = call.floats({x.size(1)});
  const auto norm = call.norm(weight, bias, mean, inverse_deviation, scale);
  auto rows = call.rows();
  call.sweep("norm_gradient_sums", call.row_bytes(), of_x.const_data_ptr(), x.const_data_ptr(),
             call.vectors(), norm, rows.mutable_data_ptr<float>());
  call.per_channel("norm_gradient_totals", rows.const_data_ptr<float>(), call.blocks(), norm,
                   of_weight.mutable_data_ptr<float>(), of_bias.mutable_data_ptr<float>());
  call.sweep("norm_act_gradient", 0, of_x.mutable_data_ptr(), x.const_data_ptr(), call.vectors(),
             norm, of_weight.const_data_ptr<float>(), of_bias.const_data_ptr<float>(),
             static_cast<float>(1 / call.count()));
  return {of_x, of_weight, of_bias};
}

}  // namespace

TORCH_LIBRARY_IMPL(ubique, CUDA, library) {
  library.impl("does_norm_act", TORCH_FN(does_norm_act));
  library.impl("norm_act", TORCH_FN(cuda_norm_act));
  library.impl("norm_act_again", TORCH_FN(cuda_norm_act_recompute));
  library.impl("norm_act_backward", TORCH_FN(cuda_norm_act_backward));
}

}  // namespace ubique::backend
