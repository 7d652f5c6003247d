// SPDX-License-Identifier: Apache-2.0
// What moves bytes between the processes of a run. Every function is called by all ranks in the
// same order; tensors are contiguous and on the device of the transport.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ubique/dist/place.h"

namespace ubique::dist {

class Transport {
 public:
  virtual ~Transport() = default;
  virtual c10::Device device() const { return c10::kCPU; }
  /// `all` (size, n) gets the `mine` (n) of every rank.
  virtual void gather(at::Tensor all, at::Tensor mine) = 0;
  /// Rows of `sent` go to the ranks, to_each[r] to rank r; `received` has from_each[r] of rank r.
  virtual void exchange(at::Tensor received, at::Tensor sent,
                        const std::vector<std::int64_t>& from_each,
                        const std::vector<std::int64_t>& to_each) = 0;
  virtual void broadcast(at::Tensor tensor, int from) = 0;
  /// Connections of their own between the same ranks, for another thread: exchanges over them have
  /// an order of their own.
  virtual std::unique_ptr<Transport> beside() = 0;
  /// From any thread: the exchange that is under way, and each later one, fails.
  virtual void abandon() = 0;
  /// Throws if a rank is lost, and after abandon().
  virtual void check_others() = 0;
  /// Told to the others, for their message if this rank is lost.
  virtual void note_step(std::int64_t step) = 0;
  /// What every rank noted last, as far as it is known here; may lag by a second.
  virtual std::vector<std::int64_t> steps() const = 0;
  /// Called about once a second while an exchange waits for another rank.
  virtual void while_waiting(std::function<void()> look) = 0;
  /// Says why this rank ends, so that the others can say it too; waits a little for them to hear it
  /// if they depend on this process for that.
  virtual void leave(const std::string& why) = 0;
};

/// How long to wait.
struct Patience {
  double silence = 60;   ///< seconds without a sign of life until a rank counts as lost
  double joining = 300;  ///< seconds until all ranks must have come
};

/// From UBIQUE_DIST_TIMEOUT (silence) and UBIQUE_DIST_JOIN_TIMEOUT, in seconds.
Patience read_patience(const Environment& environment);

/// Was the program built with Gloo?
bool has_gloo();
/// All ranks meet at place.host. Usage error with the reason if that cannot be.
std::unique_ptr<Transport> connect_gloo(const Place& place, const Patience& patience);

}  // namespace ubique::dist
