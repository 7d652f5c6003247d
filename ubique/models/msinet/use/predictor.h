// SPDX-License-Identifier: Apache-2.0
// Saliency maps of pictures of any size: resized to the network's input, run, and resized back. No
// files.
#pragma once

#include <memory>
#include <vector>

#include "ubique/data/images/image.h"
#include "ubique/device/recording.h"
#include "ubique/engine/step/autocast.h"
#include "ubique/models/msinet/net/model.h"
#include "ubique/plan/plan.h"

namespace ubique::msinet {

class Predictor {
 public:
  /// The network frozen as the plan says; where the plan allows graph capture, each batch size is
  /// recorded once and then replayed as one launch.
  Predictor(const MsiNetFile& file, const plan::Plan& plan, c10::Device device);
  /// A network that is already on its device (validation during training); not owned.
  explicit Predictor(MsiNet& network);

  const MsiNetConfig& config() const { return network_->config(); }
  /// A picture at the network's input size; needs no device.  (3, H, W)
  at::Tensor prepare(const io::Picture& picture, int threads = 1) const;
  /// Maps at the network's size, 0 to 1, on the host, f32.  (B, 3, H, W) to (B, H, W)
  at::Tensor maps(const at::Tensor& images);
  /// A map at the network's size resized to the picture's, 0 to 255.
  data::Image restore(const at::Tensor& map, data::FrameSize picture, int threads = 1) const;

  /// Like maps(), but on the device and without synchronising.  (B, 3, H, W) to (B, 1, H, W)
  at::Tensor maps_on_device(const at::Tensor& images);

 private:
  /// A captured graph with its input and output buffers.
  struct Recorded {
    at::Tensor images, maps;
    std::unique_ptr<device::Recording> work;
  };
  Recorded& recorded(const at::Tensor& images);

  std::shared_ptr<MsiNet> owned_;
  MsiNet* network_;
  engine::AutocastState autocast_;
  bool records_ = false;
  std::vector<Recorded> recorded_;  // newest last
};

}  // namespace ubique::msinet
