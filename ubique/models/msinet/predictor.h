// SPDX-License-Identifier: Apache-2.0
// Saliency maps of pictures of any size: into the network's frame, through it, and back. Knows no
// files.
#pragma once

#include <memory>
#include <vector>

#include "ubique/data/images/image.h"
#include "ubique/engine/autocast.h"
#include "ubique/models/msinet/model.h"
#include "ubique/plan/plan.h"

namespace ubique::msinet {

class Predictor {
 public:
  /// The network as the plan says; weights are copied to the device.
  Predictor(const MsiNetFile& file, const plan::Plan& plan, c10::Device device);
  /// A network that is on its device already (validation while training); not owned.
  explicit Predictor(MsiNet& network);

  const MsiNetConfig& config() const { return network_->config(); }
  /// A picture in the network's frame; the part that needs no device.  (3, H, W)
  at::Tensor prepare(const io::Picture& picture, int threads = 1) const;
  /// Maps in the frame, 0 to 1, on the host, f32.  (B, 3, H, W) to (B, H, W)
  at::Tensor maps(const at::Tensor& images);
  /// A map in the frame as one of the picture's size, 0 to 255.
  data::Image restore(const at::Tensor& map, data::FrameSize picture, int threads = 1) const;

 private:
  std::shared_ptr<MsiNet> owned_;
  MsiNet* network_;
  engine::AutocastState autocast_;
};

}  // namespace ubique::msinet
