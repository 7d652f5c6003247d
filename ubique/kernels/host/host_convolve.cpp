// SPDX-License-Identifier: Apache-2.0
// Loops over groups of planes that keep the working set in the cache.
#include "ubique/kernels/host/host_convolve.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ubique/kernels/host/host_planes.h"
#include "ubique/kernels/host/host_rows.h"
#include "ubique/kernels/host/host_threads.h"

namespace ubique::kernels {
namespace {

/// Multiplications of one tap between two barriers, about 10 ms on two threads: on a busy machine a
/// thread that loses its core delays the others at every barrier.
constexpr std::int64_t kWorkPerGroup = 32 << 20;
constexpr std::int64_t kStripFloats = 1024;  // per channel: a strip fits the L1 cache

struct ConvGeometry {
  std::int64_t kernel, dilation;
  std::int64_t reach() const { return dilation * (kernel / 2); }
};

/// Output planes computed together; the ring holds this many extra planes.
std::int64_t group_planes(const PlaneForm& form, std::int64_t depth) {
  const auto work = form.channels * form.channels * form.height * form.width;
  return std::clamp<std::int64_t>(kWorkPerGroup / work, 1, depth);
}

/// Calls work(first plane, count, ring with their input planes) for each group of a sample's planes
/// (I, D, H, W).
template <typename Work>
void for_each_group(const at::Tensor& sample, ConvGeometry geometry, const Work& work) {
  const auto depth = sample.size(1);
  const PlaneForm form{sample.size(0), sample.size(2), sample.size(3), geometry.reach()};
  const auto group = group_planes(form, depth);
  PlaneRing ring(form, geometry.kernel, geometry.dilation, group, depth);
  std::int64_t filled = 0;
  for (std::int64_t first = 0; first < depth; first += group) {
    const auto count = std::min(group, depth - first);
    const auto last = std::min(first + count - 1 + geometry.reach(), depth - 1);
    if (filled <= last) ring.copy(sample, filled, last);
    filled = std::max(filled, last + 1);
    work(first, count, ring);
  }
}

void convolve_sample(const PlaneConvolution& conv, const at::Tensor& x, at::Tensor result) {
  const auto depth = x.size(1), height = x.size(2), width = x.size(3);
  auto* out = result.mutable_data_ptr<float>();  // (O, D, H, W)
  for_each_group(x, {conv.kernel(), conv.dilation()}, [&](auto first, auto count, auto& ring) {
    std::vector<PlaneJob> jobs;
    for (auto z = first; z < first + count; ++z) {
      jobs.push_back({ring.inputs_of(z), out + z * height * width, width, depth * height * width});
    }
    conv.run(jobs, height, false);
  });
}

/// Adds the contribution of rows y0 to y1 of a plane to the sums of every tap.
void add_strip(GradientStrip strip, const std::vector<const HostPlane*>& inputs,
               ConvGeometry geometry, std::int64_t y0, std::int64_t y1, float* sums) {
  const auto* gradient = strip.gradient;
  for (std::int64_t kz = 0; kz < geometry.kernel; ++kz) {
    const auto* plane = inputs[static_cast<std::size_t>(kz)];
    if (plane == nullptr) continue;
    for (std::int64_t ky = 0; ky < geometry.kernel; ++ky) {
      const auto shift = ky * geometry.dilation - geometry.reach();
      const auto begin = std::max(y0, -shift), end = std::min(y1, plane->form().height - shift);
      if (begin >= end) continue;
      strip.gradient = gradient + begin * strip.gradient_row;
      strip.input = plane->row(begin + shift) - geometry.reach();
      strip.rows = end - begin;
      strip.sums =
          sums + (kz * geometry.kernel + ky) * strip.out * strip.in * strip.taps * kSumLanes;
      row_kernels().weight_gradient(strip);
    }
  }
}

void add_weight_gradient(const at::Tensor& gradient, const at::Tensor& x, ConvGeometry geometry,
                         at::Tensor& sums) {
  const auto depth = x.size(1), height = x.size(2), width = x.size(3);
  const auto* slopes = gradient.const_data_ptr<float>();  // (O, D, H, W)
  auto* slots = sums.mutable_data_ptr<float>();           // (threads, ...)
  const auto per_thread = sums[0].numel();
  const auto rows = std::clamp<std::int64_t>(kStripFloats / width, 1, height);
  const auto strips = (height + rows - 1) / rows;
  for_each_group(x, geometry, [&](auto first, auto count, auto& ring) {
    GradientStrip shared;
    shared.gradient_channel = depth * height * width;
    shared.gradient_row = width;
    shared.input_channel = ring.form().stride();
    shared.input_row = ring.form().channels * ring.form().stride();
    shared.tap_step = geometry.dilation;
    shared.in = x.size(0);
    shared.out = gradient.size(0);
    shared.taps = geometry.kernel;
    shared.width = width;
    const auto tasks = count * strips, threads = host_threads();
    on_host_threads([&](std::int64_t thread) {  // fixed shares: sums are reproducible
      for (auto task = tasks * thread / threads; task < tasks * (thread + 1) / threads; ++task) {
        const auto z = first + task / strips, y0 = task % strips * rows;
        auto strip = shared;
        strip.gradient = slopes + z * height * width;
        add_strip(strip, ring.inputs_of(z), geometry, y0, std::min(y0 + rows, height),
                  slots + thread * per_thread);
      }
    });
  });
}

}  // namespace

bool suits_host_convolve(const at::Tensor& x, const at::Tensor& weight) {
  return x.device().is_cpu() && x.scalar_type() == at::kFloat && x.dim() == 5 && x.numel() > 0 &&
         weight.scalar_type() == at::kFloat && PlaneConvolution::supports(weight.size(2)) &&
         std::max(weight.size(0), weight.size(1)) <= kMaxHostChannels;
}

std::int64_t host_convolve_floats(std::int64_t channels, std::int64_t kernel, std::int64_t dilation,
                                  std::int64_t depth, std::int64_t height, std::int64_t width) {
  const ConvGeometry geometry{kernel, dilation};
  const PlaneForm form{channels, height, width, geometry.reach()};
  return std::min(depth, 2 * geometry.reach() + group_planes(form, depth)) * form.floats();
}

at::Tensor host_convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         std::int64_t dilation) {
  const PlaneConvolution conv(weight, bias, dilation);
  auto result = at::empty({x.size(0), conv.out(), x.size(2), x.size(3), x.size(4)},
                          at::TensorOptions(at::kFloat));
  for (std::int64_t b = 0; b < x.size(0); ++b) convolve_sample(conv, x[b], result[b]);
  return result;
}

at::Tensor host_weight_gradient(const at::Tensor& gradient, const at::Tensor& x,
                                const at::Tensor& weight, std::int64_t dilation) {
  const auto kernel = weight.size(2), out = weight.size(0), in = weight.size(1);
  auto sums = at::zeros({host_threads(), kernel, kernel, out, in, kernel, kSumLanes},
                        at::TensorOptions(at::kFloat));
  const auto slopes = gradient.contiguous();
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    add_weight_gradient(slopes[b], x[b], {kernel, dilation}, sums);
  }
  return sums.sum(at::IntArrayRef{0, 6}).permute({2, 3, 0, 1, 4}).contiguous();  // (O, I, k, k, k)
}

at::Tensor flipped_weight(const at::Tensor& weight) {
  return weight.transpose(0, 1).flip({2, 3, 4}).contiguous();
}

}  // namespace ubique::kernels
