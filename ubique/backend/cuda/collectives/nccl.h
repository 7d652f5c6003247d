// SPDX-License-Identifier: Apache-2.0
// NCCL as the collectives of NVIDIA's cards.
#pragma once

#include "nccl_library.h"
#include "ubique/device/collectives.h"

namespace ubique::backend::cuda {

class Nccl final : public device::CollectivesLibrary {
 public:
  /// Another file in tests, whose tensors are on the host.
  explicit Nccl(const std::string& file = "libnccl.so.2") : library_(file) {}
  bool loaded() const { return library_.loaded(); }

  std::string name() const override;
  std::string card(c10::Device device) const override;
  std::string new_meeting() const override;
  std::unique_ptr<device::Collectives> join(c10::Device device, const std::string& meeting,
                                            int rank, int size) const override;

 private:
  NcclLibrary library_;
};

}  // namespace ubique::backend::cuda
