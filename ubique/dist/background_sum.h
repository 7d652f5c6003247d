// SPDX-License-Identifier: Apache-2.0
// Sums of rows that several ranks have, exchanged by a thread of its own while the ranks compute.
// The sum of a bucket adds up the rows of rank 0 from the first to the last, then those of rank 1,
// and so on: its bits do not depend on which rank had which row, nor on when a row came.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "ubique/dist/world.h"

namespace ubique::dist {

/// When each rank has rows of its own: `rows` of them, one in each round from `first_round` on.
struct RowsOfRank {
  std::int64_t rows = 0, first_round = 0;

  std::int64_t end() const { return rows > 0 ? first_round + rows : 0; }
  bool has(std::int64_t round) const { return round >= first_round && round < end(); }
};

/// Numbers that are exchanged at once.
struct SumBucket {
  at::ScalarType dtype = at::kFloat;
  std::int64_t length = 0;
};

/// One rank's row of a bucket: pieces one after the other.
struct SumPiece {
  at::Tensor values;  ///< none: adds nothing, whatever is added to it
  std::int64_t length = 0;
};

class BackgroundSum {
 public:
  /// All ranks; of several. Sums of tensors on `device`.
  BackgroundSum(const World& world, c10::Device device);
  /// Over connections that no other has (World::beside).
  BackgroundSum(int rank, int size, std::unique_ptr<Transport> transport, c10::Device device);
  ~BackgroundSum();
  BackgroundSum(const BackgroundSum&) = delete;
  BackgroundSum& operator=(const BackgroundSum&) = delete;

  /// Sums of so many buckets, after finish() of the ones before.
  void begin(std::vector<SumBucket> buckets, std::vector<RowsOfRank> ranks);
  std::int64_t rounds() const;
  /// All ranks push every bucket once in each round, in the same order; a rank without a row there
  /// pushes no pieces. Does not wait; takes the values over. Throws if an exchange failed.
  void push(std::size_t bucket, std::int64_t round, std::vector<SumPiece> pieces);
  /// Waits for everything that was pushed: (length) of each bucket, on the transport's device.
  /// Throws if an exchange failed.
  std::vector<at::Tensor> finish();

 private:
  struct Job {
    std::size_t bucket = 0;
    std::int64_t round = 0;
    std::vector<SumPiece> pieces;
    std::optional<c10::Event> computed;  // the pieces, on a device that does not wait for them
  };

  void work();
  void exchange(const Job& job);
  at::Tensor row_of(const Job& job, std::int64_t length) const;
  void add_up(std::size_t bucket);
  std::int64_t share(std::size_t bucket) const;
  void throw_failure();

  int rank_, size_;
  std::unique_ptr<Transport> transport_;
  c10::Device device_;                 // of the pieces
  std::optional<c10::Stream> stream_;  // of the thread, on a device that has them
  std::vector<SumBucket> buckets_;
  std::vector<RowsOfRank> ranks_;
  std::vector<std::vector<std::vector<at::Tensor>>> received_;  // [bucket][rank]: this rank's share
  std::vector<at::Tensor> sums_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;        // under mutex_
  bool busy_ = false;           // under mutex_
  bool ending_ = false;         // under mutex_
  std::exception_ptr failure_;  // under mutex_
  std::thread thread_;
};

}  // namespace ubique::dist
