// SPDX-License-Identifier: Apache-2.0
// Plane buffers, and the distribution of rows over threads.
#include "ubique/kernels/host/host_planes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ubique/base/error.h"
#include "ubique/kernels/host/host_rows.h"
#include "ubique/kernels/host/host_threads.h"

namespace ubique::kernels {
namespace {

constexpr std::int64_t kAlignment = 16;   // floats: a cache line
constexpr std::int64_t kRowsPerTask = 8;  // neighbouring rows share input rows in the cache

std::int64_t rounded_up(std::int64_t value) {
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<float> floats_of(const at::Tensor& tensor) {
  const auto host = tensor.detach().cpu().to(at::kFloat).contiguous();
  const auto* data = host.const_data_ptr<float>();
  return {data, data + host.numel()};
}

std::vector<float> bias_of(const at::Tensor& bias, std::int64_t count) {
  return bias.defined() ? floats_of(bias) : std::vector<float>(static_cast<std::size_t>(count));
}

/// The row to compute at `index`: rows one dilation apart follow each other, so that two of three
/// input rows are still in the cache.
std::int64_t row_in_order(std::int64_t index, std::int64_t height, std::int64_t dilation) {
  const auto longer = height % dilation;  // this many residues have one row more than the others
  const auto rows = height / dilation;
  const auto first = longer * (rows + 1);
  if (index < first) return index % (rows + 1) * dilation + index / (rows + 1);
  return (index - first) % rows * dilation + longer + (index - first) / rows;
}

/// Calls work(index) for every index below `count`, `together` at a time on whichever thread is
/// free: on a busy machine a thread that loses its core does not delay the others. Results must not
/// depend on which thread runs which index.
template <typename Work>
void share_out(std::int64_t count, std::int64_t together, const Work& work) {
  std::atomic<std::int64_t> next{0};
  on_host_threads([&](std::int64_t) {
    for (auto first = next.fetch_add(together); first < count; first = next.fetch_add(together)) {
      for (auto index = first; index < std::min(first + together, count); ++index) work(index);
    }
  });
}

void copy_row(float* to, const float* from, std::int64_t step, std::int64_t count) {
  if (step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  } else {
    for (std::int64_t x = 0; x < count; ++x) to[x] = from[x * step];
  }
}

}  // namespace

std::int64_t PlaneForm::stride() const { return rounded_up(width + rounded_up(margin)); }

std::int64_t PlaneForm::floats() const {
  return rounded_up(margin) + height * channels * stride() + margin + kRowSlack;
}

HostPlane::HostPlane(const PlaneForm& form)
    : form_(form),
      memory_(at::empty({form.floats()}, at::TensorOptions(at::kFloat))),
      first_(memory_.mutable_data_ptr<float>() + rounded_up(form.margin)) {}

void HostPlane::clear_margins() {
  const auto stride = form_.stride(), rows = form_.height * form_.channels;
  auto* const begin = memory_.mutable_data_ptr<float>();
  std::fill(begin, first_, 0.0F);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::fill(first_ + i * stride + form_.width, first_ + (i + 1) * stride, 0.0F);
  }
  std::fill(first_ + rows * stride, begin + form_.floats(), 0.0F);
}

at::Tensor HostPlane::view() const {
  return memory_.as_strided({form_.height, form_.channels, form_.width},
                            {form_.channels * form_.stride(), form_.stride(), 1},
                            rounded_up(form_.margin));
}

PlaneRing::PlaneRing(const PlaneForm& form, std::int64_t kernel, std::int64_t dilation,
                     std::int64_t group, std::int64_t depth)
    : form_(form), kernel_(kernel), dilation_(dilation), depth_(depth) {
  const auto size = std::min(depth, 2 * dilation * (kernel / 2) + group);
  for (std::int64_t i = 0; i < size; ++i) planes_.emplace_back(form);
  // The first write to new memory is slow (page faults): done by all threads.
  share_out(size, 1, [&](std::int64_t i) { planes_[static_cast<std::size_t>(i)].clear_margins(); });
}

std::vector<const HostPlane*> PlaneRing::inputs_of(std::int64_t z) {
  std::vector<const HostPlane*> inputs;
  for (std::int64_t tap = 0; tap < kernel_; ++tap) {
    const auto from = z + (tap - kernel_ / 2) * dilation_;
    inputs.push_back(from < 0 || from >= depth_ ? nullptr : &this->at(from));
  }
  return inputs;
}

void PlaneRing::copy(const ::at::Tensor& sample, std::int64_t first, std::int64_t last) {
  const auto* values = sample.const_data_ptr<float>();
  const auto strides = sample.strides();
  share_out((last - first + 1) * form_.height, kRowsPerTask, [&](std::int64_t index) {
    const auto z = first + index / form_.height, y = index % form_.height;
    const auto* from = values + z * strides[1] + y * strides[2];
    auto* to = this->at(z).row(y);
    for (std::int64_t c = 0; c < form_.channels; ++c) {
      copy_row(to + c * form_.stride(), from + c * strides[0], strides[3], form_.width);
    }
  });
}

PlaneConvolution::PlaneConvolution(const at::Tensor& weight, const at::Tensor& bias,
                                   std::int64_t dilation)
    : in_(weight.size(1)), out_(weight.size(0)), kernel_(weight.size(2)), dilation_(dilation) {
  check(weight.dim() == 5 && supports(kernel_) && weight.size(3) == kernel_ &&
            weight.size(4) == kernel_ && dilation > 0,
        ErrorKind::Internal, "[kernels.planes] no such convolution; kernel {}, dilation {}.",
        kernel_, dilation);
  bias_ = bias_of(bias, out_);
  const auto by_tap = weight.detach().flatten(2).permute({2, 1, 0});  // (taps, I, O)
  for (std::int64_t block = 0; block < block_count(out_); ++block) {
    const auto begin = block_begin(out_, block), end = block_begin(out_, block + 1);
    const auto part = floats_of(by_tap.narrow(2, begin, end - begin));
    weights_.insert(weights_.end(), part.begin(), part.end());
  }
}

void PlaneConvolution::run_row(const PlaneJob& job, std::int64_t y, bool relu) const {
  ConvRow row;
  row.tap_count = kernel_ * kernel_ * kernel_;
  row.in = in_;
  row.out = out_;
  row.out_stride = job.channel_stride;
  row.weights = weights_.data();
  row.bias = bias_.data();
  row.result = job.result + y * job.row_stride;
  row.relu = relu;
  std::int64_t tap = 0;
  for (const auto* plane : job.inputs) {
    for (std::int64_t ky = 0; ky < kernel_; ++ky) {
      const auto from = y + ky * dilation_ - reach();
      const bool outside = plane == nullptr || from < 0 || from >= plane->form().height;
      const float* start = outside ? nullptr : plane->row(from) - reach();
      for (std::int64_t kx = 0; kx < kernel_; ++kx) {
        row.taps[tap++] = outside ? nullptr : start + kx * dilation_;
      }
    }
    if (plane == nullptr) continue;
    row.in_stride = plane->form().stride();
    row.width = plane->form().width;
  }
  row_kernels().convolve(row);
}

void PlaneConvolution::run(std::span<const PlaneJob> jobs, std::int64_t height, bool relu) const {
  const auto rows = static_cast<std::int64_t>(jobs.size()) * height;
  share_out(rows, kRowsPerTask, [&](std::int64_t index) {
    run_row(jobs[static_cast<std::size_t>(index / height)],
            row_in_order(index % height, height, dilation_), relu);
  });
}

PlaneClassifier::PlaneClassifier(const at::Tensor& weight, const at::Tensor& bias)
    : classes_(weight.size(0)),
      channels_(weight.size(1)),
      weights_(floats_of(weight)),
      bias_(bias_of(bias, weight.size(0))) {
  check(weight.numel() == classes_ * channels_, ErrorKind::Internal,
        "[kernels.planes] a classifier has a kernel of 1.");
}

bool PlaneClassifier::run(const HostPlane& plane, std::uint8_t* labels, float* logits,
                          std::int64_t class_stride) const {
  const auto& form = plane.form();
  std::atomic<bool> finite{true};
  share_out(form.height, kRowsPerTask, [&](std::int64_t y) {
    ClassRow row;
    row.input = plane.row(y);
    row.channels = channels_;
    row.classes = classes_;
    row.stride = form.stride();
    row.width = form.width;
    row.weights = weights_.data();
    row.bias = bias_.data();
    row.labels = labels == nullptr ? nullptr : labels + y * form.width;
    row.logits = logits == nullptr ? nullptr : logits + y * form.width;
    row.class_stride = class_stride;
    if (!row_kernels().classify(row)) finite = false;
  });
  return finite;
}

bool PlaneClassifier::labels(const HostPlane& plane, std::uint8_t* out) const {
  return run(plane, out, nullptr, 0);
}

bool PlaneClassifier::logits(const HostPlane& plane, float* out, std::int64_t class_stride) const {
  return run(plane, nullptr, out, class_stride);
}

}  // namespace ubique::kernels
