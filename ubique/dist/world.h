// SPDX-License-Identifier: Apache-2.0
// All processes of one run, and what they tell each other. Of a single process every function does
// nothing and costs nothing, so that callers need no case for it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ubique/dist/place.h"
#include "ubique/dist/transport.h"

namespace ubique::dist {

class World {
 public:
  World() = default;  ///< this process alone
  World(Place place, std::unique_ptr<Transport> transport);
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  const Place& place() const { return place_; }
  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  bool is_alone() const { return transport_ == nullptr; }
  bool is_first() const { return place_.rank == 0; }  ///< the one that writes files and talks

  // All ranks call these in the same order. A rank that is lost is named in a Device error.

  /// The texts of all ranks, in their order.
  std::vector<std::string> gather(const std::string& mine) const;
  /// The text of rank 0.
  std::string from_first(const std::string& mine) const;
  /// Fills the tensor with the values that it has on rank `from`.
  void broadcast(const at::Tensor& tensor, int from = 0) const;
  /// The rows of all ranks in their order; each may have another number of them.
  at::Tensor gather_rows(const at::Tensor& mine) const;
  /// Connections for another thread (Transport::beside), between devices of this kind if they have
  /// their own, else between hosts; none for a process alone.
  std::unique_ptr<Transport> beside(c10::Device device) const;

  /// For the others' message if this rank is lost.
  void note_step(std::int64_t step) const;
  /// What the ranks noted last, as far as it is known here: for progress bars. Alone: empty.
  std::vector<std::int64_t> steps() const;
  /// `look` is called about once a second while an exchange waits for another rank.
  void while_waiting(std::function<void()> look) const;
  void leave(const std::string& why) const;

 private:
  Place place_;
  std::unique_ptr<Transport> transport_;
};

/// This process's world: alone until join().
World& world();
/// Joins the others of the place; does nothing for a place of one and if it has joined already.
/// Usage error if the program was built without Gloo.
void join(const Place& place);

}  // namespace ubique::dist
