// SPDX-License-Identifier: Apache-2.0
// Saliency maps of pictures of any size: into the network's frame, through it, and back. Knows no
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
  /// The network as the plan says, its weights arranged once for the device; where the plan allows
  /// it, pictures of one size go through it as one launch.
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

  /// The same on the device, nothing waited for.  (B, 3, H, W) to (B, 1, H, W)
  at::Tensor maps_on_device(const at::Tensor& images);

 private:
  /// A recording with the memory that it reads and writes.
  struct Recorded {
    at::Tensor images, maps;
    std::unique_ptr<device::Recording> work;
  };
  Recorded& recorded(const at::Tensor& images);

  std::shared_ptr<MsiNet> owned_;
  MsiNet* network_;
  engine::AutocastState autocast_;
  bool records_ = false;
  std::vector<Recorded> recorded_;  // the newest last
};

}  // namespace ubique::msinet
