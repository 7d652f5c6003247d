// SPDX-License-Identifier: Apache-2.0
// Passes of the transformer that are recorded once for their shapes and then launched as one: for
// all steps of a song, and for the next songs of these shapes.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "ubique/device/recording.h"
#include "ubique/models/acestep/net/dit.h"

namespace ubique::acestep {

class PassRecorder {
 public:
  /// Before the steps of a song: recordings that read other weights than the transformer has now
  /// (other adapters, for example) are dropped. The transformer must outlive the passes.
  void prepare(const Dit& dit);

  /// The velocity (B, C, 16, T), f32, of latents (B, C, 16, T) at one timestep of all items. Plain
  /// where the device does not record or has no memory for it.
  at::Tensor velocity(const Dit& dit, const at::Tensor& latents, double timestep,
                      const DitContext& context, const DitOptions& options);

 private:
  /// A recorded pass with the memory that it reads and writes.
  struct Pass {
    at::Tensor latents, timestep, velocity;
    DitContext context;              // longer than the contexts of songs: the rest is masked
    DitOptions options;              // with a scale of its own
    at::Tensor loaded;               // tokens of the context that was copied
    std::vector<at::Tensor> tables;  // must live as long
    std::unique_ptr<device::Recording> work;
  };
  /// Where a layer's values lie, how many they are, and its adapter's strength.
  using Place = std::tuple<const void*, std::int64_t, double>;

  static std::vector<Place> places_of(const Dit& dit);
  static void load(Pass& pass, const at::Tensor& latents, double timestep,
                   const DitContext& context, const DitOptions& options);
  Pass* find(const at::Tensor& latents, const DitContext& context, const DitOptions& options);
  Pass* recorded(const Dit& dit, const at::Tensor& latents, double timestep,
                 const DitContext& context, const DitOptions& options);

  std::vector<Place> places_;
  std::vector<std::unique_ptr<Pass>> passes_;  // newest last
  bool works_ = true;
};

/// The same without a recorder.
at::Tensor plain_velocity(const Dit& dit, const at::Tensor& latents, double timestep,
                          const DitContext& context, const DitOptions& options);

}  // namespace ubique::acestep
