// SPDX-License-Identifier: Apache-2.0
// Sums of rows that several ranks have, exchanged in the background while the ranks compute. The
// sum of a bucket adds up the rows of rank 0 from the first to the last, then those of rank 1, and
// so on: its bits do not depend on which rank had which row, nor on when a row came.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "ubique/dist/background.h"
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

/// Who gets a sum.
enum class SumResult {
  Whole,     ///< every rank all of it
  OwnShare,  ///< rank r the r-th of as many equal shares as there are ranks, the last filled up.
             ///< Rows are added up round by round, in each in the order of ranks, and not kept.
};

class BackgroundSum {
 public:
  /// All ranks; of several. Sums of tensors on `device`.
  BackgroundSum(const World& world, c10::Device device);
  /// Over connections that no other has (World::beside).
  BackgroundSum(int rank, int size, std::unique_ptr<Transport> transport, c10::Device device);
  /// Beside other exchanges.
  BackgroundSum(int rank, int size, std::shared_ptr<Background> background);
  ~BackgroundSum();
  BackgroundSum(const BackgroundSum&) = delete;
  BackgroundSum& operator=(const BackgroundSum&) = delete;

  /// Sums of so many buckets, after finish() of the ones before.
  void begin(std::vector<SumBucket> buckets, std::vector<RowsOfRank> ranks,
             SumResult result = SumResult::Whole);
  std::int64_t rounds() const;
  /// All ranks push every bucket once in each round, in the same order; a rank without a row there
  /// pushes no pieces. Does not wait; takes the values over. Throws if an exchange failed.
  void push(std::size_t bucket, std::int64_t round, std::vector<SumPiece> pieces);
  /// Waits for everything that was pushed: (length) of each bucket, or this rank's share of it, on
  /// the transport's device. Throws if an exchange failed.
  std::vector<at::Tensor> finish();

 private:
  struct Row {
    std::size_t bucket = 0;
    std::int64_t round = 0;
    std::vector<SumPiece> pieces;
  };

  void exchange(Transport& transport, const Row& row);
  at::Tensor values_of(const Row& row, std::int64_t length) const;
  void add_received(std::size_t bucket, const std::vector<at::Tensor>& rows);
  void add_up(Transport& transport, std::size_t bucket);
  std::int64_t share(std::size_t bucket) const;

  int rank_, size_;
  std::vector<SumBucket> buckets_;
  std::vector<RowsOfRank> ranks_;
  SumResult result_ = SumResult::Whole;
  std::vector<std::vector<std::vector<at::Tensor>>> received_;  // [bucket][rank]: this rank's share
  std::vector<at::Tensor> sums_;
  std::shared_ptr<Background> background_;  // the last member: its thread uses the others
};

}  // namespace ubique::dist
