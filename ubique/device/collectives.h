// SPDX-License-Identifier: Apache-2.0
// What moves data between the devices of several processes without the host's memory (NCCL). A
// device that has nothing of the kind leaves that to the host.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ubique::device {

/// All ranks call each exchange in the same order. It starts on the current stream and the call
/// returns; done() says when it has ended. Tensors are contiguous and on the device.
class Collectives {
 public:
  virtual ~Collectives() = default;
  /// `all` (size, n) gets the `mine` (n) of every rank.
  virtual void gather(const at::Tensor& all, const at::Tensor& mine) = 0;
  /// Rows of `sent` go to the ranks, to_each[r] to rank r; `received` has from_each[r] of rank r.
  virtual void exchange(const at::Tensor& received, const at::Tensor& sent,
                        const std::vector<std::int64_t>& from_each,
                        const std::vector<std::int64_t>& to_each) = 0;
  virtual void broadcast(const at::Tensor& tensor, int from) = 0;
  /// Has everything ended that was started so far? Device error if it never will.
  virtual bool done() = 0;
  /// Ends what is under way; nothing else works afterwards.
  virtual void abort() = 0;
};

class CollectivesLibrary {
 public:
  virtual ~CollectivesLibrary() = default;
  virtual std::string name() const = 0;  ///< "NCCL 2.28.9"
  /// Another text for each card of all machines: two ranks cannot share one.
  virtual std::string card(c10::Device device) const = 0;
  /// What rank 0 makes and all ranks join with.
  virtual std::string new_meeting() const = 0;
  /// All ranks; waits for the others. Device error with the library's reason.
  virtual std::unique_ptr<Collectives> join(c10::Device device, const std::string& meeting,
                                            int rank, int size) const = 0;
};

/// Of the device's backend; nullptr if it has none or it does not load.
const CollectivesLibrary* collectives_of(c10::Device device);

}  // namespace ubique::device
