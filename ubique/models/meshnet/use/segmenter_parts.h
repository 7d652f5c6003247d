// SPDX-License-Identifier: Apache-2.0
// Parts of the segmenter: three ways to run the dilated layers, and the classifier that takes their
// output. Included by segmenter*.cpp and stream*.cpp only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ubique/kernels/host/host_planes.h"
#include "ubique/models/meshnet/use/segmenter.h"

namespace ubique::meshnet {

/// A network without batch norms whose tensors are converted to the device, dtype and layout of the
/// convolutions, with channels zero-padded.
struct ReadyNetwork {
  MeshNetConfig config;
  std::int64_t channels = 0;  ///< with padding
  at::ScalarType dtype = at::kFloat;
  at::MemoryFormat layout = at::MemoryFormat::Contiguous;
  std::vector<at::Tensor> weights, biases;  ///< of the dilated layers; biases may be undefined
  at::Tensor class_weight, class_bias;
};

ReadyNetwork make_ready(const MeshNetFile& folded, const SegmenterOptions& options);

/// Receives the last dilated layer's output in order of depth, as slabs or as single host planes.
class FeatureSink {
 public:
  virtual ~FeatureSink() = default;
  /// (1, C, n, H, W), the first of its planes at depth `first`.
  virtual void take_slab(const at::Tensor& features, std::int64_t first) = 0;
  virtual void take_plane(const kernels::HostPlane& plane, std::int64_t depth) = 0;
};

/// Layer by layer over the whole volume (1, I, D, H, W).
void run_whole(const ReadyNetwork& network, const at::Tensor& image, FeatureSink& sink);
std::int64_t whole_bytes(const ReadyNetwork& network, std::int64_t voxels);

/// All layers together, `planes_at_once` planes at a time; each layer keeps the planes that its
/// taps still need.
void run_slabs(const ReadyNetwork& network, const at::Tensor& image, std::int64_t planes_at_once,
               FeatureSink& sink);
std::int64_t slab_bytes(const ReadyNetwork& network, std::int64_t plane_voxels,
                        std::int64_t planes_at_once);

/// Streaming on the host in f32 with our own convolutions. Reuses its buffers for the next volume
/// of the same shape.
class HostStream {
 public:
  explicit HostStream(const MeshNetFile& folded);
  void run(const at::Tensor& image, FeatureSink& sink);

 private:
  struct Layer {
    kernels::PlaneConvolution conv;
    std::optional<kernels::PlaneRing> ring;  // input planes that the taps read
    std::int64_t filled = 0;                 // input planes received so far
  };
  void prepare(at::IntArrayRef volume);
  void fill(std::size_t layer, std::int64_t depth);  // up to and including input plane `depth`
  void compute(std::size_t layer, std::int64_t first, std::int64_t count, kernels::PlaneRing& out);

  MeshNetConfig config_;
  std::vector<Layer> layers_;
  std::optional<kernels::PlaneRing> last_;  // the last layer's output
  std::int64_t group_ = 1;                  // planes computed at a time
  at::Tensor image_;                        // (I, D, H, W) of the current volume
};

/// The requested output per voxel.
enum class SegmenterResult { Labels, Logits, Probabilities, OneProbability };

/// Applies the classifier to the features and stores the requested result.
class Classifier final : public FeatureSink {
 public:
  Classifier(const ReadyNetwork& network, const kernels::PlaneClassifier& host,
             SegmenterResult wanted, std::int64_t one_class);
  void begin(at::IntArrayRef volume, c10::Device device);  ///< (D, H, W)
  void take_slab(const at::Tensor& features, std::int64_t first) override;
  void take_plane(const kernels::HostPlane& plane, std::int64_t depth) override;
  /// The result; an error if a logit was not finite and `check_finite`.
  at::Tensor finish(bool check_finite);

 private:
  void keep(const at::Tensor& logits, std::int64_t first);  // (K, n, H, W)

  const ReadyNetwork& network_;
  const kernels::PlaneClassifier& host_;
  SegmenterResult wanted_;
  std::int64_t one_class_;
  at::Tensor result_, finite_;
  bool host_finite_ = true;
};

}  // namespace ubique::meshnet
