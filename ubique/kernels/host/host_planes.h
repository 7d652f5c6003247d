// SPDX-License-Identifier: Apache-2.0
// Direct f32 convolutions on the CPU, plane by plane, without oneDNN's padding of channels to
// blocks. A plane is stored as (height, channels, width) with zeros beside every row, so that taps
// need no bounds check. An output plane needs only the few input planes in its reach, which makes
// streaming possible. Forward only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace ubique::kernels {

struct PlaneForm {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t margin = 0;  ///< zeros beside a row: the largest reach of a tap

  std::int64_t stride() const;  ///< floats from one row to the next
  std::int64_t floats() const;  ///< in a whole plane with its margins
};

/// Memory of one plane, uninitialised at first.
class HostPlane {
 public:
  explicit HostPlane(const PlaneForm& form);

  void clear_margins();  ///< needed once; a ring does it for its planes

  const PlaneForm& form() const { return form_; }
  /// Row y of the first channel; the other channels follow, stride() apart.
  float* row(std::int64_t y) { return first_ + y * form_.channels * form_.stride(); }
  const float* row(std::int64_t y) const { return first_ + y * form_.channels * form_.stride(); }
  /// (H, C, W), sharing memory.
  at::Tensor view() const;
  /// All values with the margins as one vector, for functions f with f(0) = 0.
  at::Tensor flat() const { return memory_; }

 private:
  PlaneForm form_;
  at::Tensor memory_;
  float* first_;  // row 0
};

/// One output plane: the k input planes that its taps read (null outside the volume), and where to
/// write the result.
struct PlaneJob {
  std::vector<const HostPlane*> inputs;  ///< their margin is at least the convolution's reach()
  float* result = nullptr;
  std::int64_t row_stride = 0, channel_stride = 0;
};

/// Ring buffer of the input planes that a convolution needs for `group` output planes of a volume
/// of `depth` planes.
class PlaneRing {
 public:
  PlaneRing(const PlaneForm& form, std::int64_t kernel, std::int64_t dilation, std::int64_t group,
            std::int64_t depth);

  HostPlane& at(std::int64_t z) { return planes_[static_cast<std::size_t>(z) % planes_.size()]; }
  /// The input planes of output plane z, null outside the volume.
  std::vector<const HostPlane*> inputs_of(std::int64_t z);
  /// Copies planes `first` to `last` of a sample (C, D, H, W) of any strides.
  void copy(const ::at::Tensor& sample, std::int64_t first, std::int64_t last);
  const PlaneForm& form() const { return form_; }
  std::int64_t depth() const { return depth_; }

 private:
  PlaneForm form_;
  std::int64_t kernel_, dilation_, depth_;
  std::vector<HostPlane> planes_;
};

/// A convolution with its weights in the order in which they are read.
class PlaneConvolution {
 public:
  /// weight (O, I, k, k, k) with odd k up to 7; bias (O) may be undefined.
  PlaneConvolution(const at::Tensor& weight, const at::Tensor& bias, std::int64_t dilation);
  static bool supports(std::int64_t kernel) { return kernel % 2 == 1 && kernel <= 7; }

  std::int64_t in() const { return in_; }
  std::int64_t out() const { return out_; }
  std::int64_t reach() const { return dilation_ * (kernel_ / 2); }  ///< in planes, rows and columns
  std::int64_t kernel() const { return kernel_; }
  std::int64_t dilation() const { return dilation_; }

  /// Computes all rows of all jobs on LibTorch's threads.
  void run(std::span<const PlaneJob> jobs, std::int64_t height, bool relu) const;

 private:
  void run_row(const PlaneJob& job, std::int64_t y, bool relu) const;

  std::int64_t in_, out_, kernel_, dilation_;
  std::vector<float> weights_;  // by block of output channels, tap, input channel
  std::vector<float> bias_;
};

/// A 1x1x1 convolution that writes labels or logits.
class PlaneClassifier {
 public:
  PlaneClassifier(const at::Tensor& weight, const at::Tensor& bias);  ///< (K, C, 1, 1, 1), (K)

  /// Argmax of every voxel (the first of equals). False if a logit is NaN or infinite.
  bool labels(const HostPlane& plane, std::uint8_t* out) const;
  /// The logits (K, H, W), with `class_stride` floats from one class to the next.
  bool logits(const HostPlane& plane, float* out, std::int64_t class_stride) const;

 private:
  bool run(const HostPlane& plane, std::uint8_t* labels, float* logits,
           std::int64_t class_stride) const;

  std::int64_t classes_, channels_;
  std::vector<float> weights_, bias_;
};

}  // namespace ubique::kernels
