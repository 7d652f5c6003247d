// SPDX-License-Identifier: Apache-2.0
// Batches from puzzle sets, the order of an epoch, and the check that a set fits a network.
#include "ubique/models/trm/data/dataset.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "ubique/data/puzzles/use/puzzle_augment.h"
#include "ubique/data/puzzles/use/puzzle_sampler.h"

namespace ubique::trm {
namespace {

using Shape = std::initializer_list<std::int64_t>;

at::Tensor numbers(Shape shape) { return at::empty(shape, at::TensorOptions(at::kInt)); }

/// One row of a host tensor (B, S).
std::span<std::int32_t> row_of(at::Tensor& tensor, std::size_t row) {
  const auto length = static_cast<std::size_t>(tensor.size(1));
  return {tensor.mutable_data_ptr<std::int32_t>() + row * length, length};
}

template <typename Load>
engine::Batch make_batch(const data::PuzzleSet& set, const std::vector<std::int64_t>& examples,
                         const Load& load) {
  const auto count = static_cast<std::int64_t>(examples.size());
  auto inputs = numbers({count, set.metadata.seq_len});
  auto labels = numbers({count, set.metadata.seq_len});
  auto ids = numbers({count});
  for (std::size_t i = 0; i < examples.size(); ++i) {
    ids.mutable_data_ptr<std::int32_t>()[i] =
        load(i, examples[i], row_of(inputs, i), row_of(labels, i));
  }
  engine::Batch batch;
  batch.tensors = {{"inputs", inputs}, {"labels", labels}, {"puzzle_identifiers", ids}};
  batch.samples = count;
  batch.weight = static_cast<double>(count);
  return batch;
}

}  // namespace

std::vector<std::int64_t> spread_examples(std::int64_t count, std::int64_t limit) {
  const auto taken = limit > 0 ? std::min(limit, count) : count;
  std::vector<std::int64_t> examples;
  for (std::int64_t i = 0; i < taken; ++i) examples.push_back(i * count / taken);
  return examples;
}

engine::Batch puzzle_batch(const data::PuzzleSet& set, const std::vector<std::int64_t>& examples) {
  return make_batch(set, examples,
                    [&](std::size_t, std::int64_t example, auto inputs, auto labels) {
                      return data::load_example(set, example, inputs, labels);
                    });
}

void check_fits(const data::PuzzleSet& set, const TrmConfig& config, const std::string& where) {
  const auto& metadata = set.metadata;
  check(metadata.seq_len == config.seq_len, ErrorKind::Input,
        "[trm.data] {} has puzzles of another length; got {} tokens, expected the network's {}.",
        where, metadata.seq_len, config.seq_len);
  check(metadata.vocab_size <= config.vocab_size, ErrorKind::Input,
        "[trm.data] {} has tokens that the network does not know; got a vocabulary of {}, expected "
        "at most {}.",
        where, metadata.vocab_size, config.vocab_size);
  const auto& layout = metadata.layout;
  const auto kind = data::to_string(layout.kind);
  check(layout.kind == data::PuzzleKind::Other || config.kind.empty() || kind == config.kind,
        ErrorKind::Input, "[trm.data] {} has other puzzles; got {}, expected the network's {}.",
        where, kind, config.kind);
  check(config.rows == 0 || layout.rows == 0 ||
            (layout.rows == config.rows && layout.cols == config.cols),
        ErrorKind::Input,
        "[trm.data] {} has grids of another shape; got {}x{}, expected the network's {}x{}.", where,
        layout.rows, layout.cols, config.rows, config.cols);
  if (config.puzzle_emb_ndim == 0 || set.puzzle_identifiers.empty()) return;
  const auto largest = *std::ranges::max_element(set.puzzle_identifiers);
  check(largest < config.num_puzzle_identifiers, ErrorKind::Input,
        "[trm.data] {} has a puzzle that the network has no row for; got id {}, expected below {}. "
        "Train on it first.",
        where, largest, config.num_puzzle_identifiers);
}

PuzzleDataset::PuzzleDataset(std::shared_ptr<const data::PuzzleSet> set,
                             const DatasetOptions& options)
    : set_(std::move(set)), options_(options) {
  check(!options.augment || data::has_augmentation(set_->metadata.layout), ErrorKind::Usage,
        "[trm.data] no augmentation is known for these puzzles; got {}, expected sudoku or mazes. "
        "Leave augment out.",
        data::describe(set_->metadata.layout));
}

engine::Batch PuzzleDataset::load(const std::vector<std::int64_t>& indices,
                                  const engine::SampleRandoms& randoms) const {
  auto batch = make_batch(
      *set_, indices, [&](std::size_t i, std::int64_t example, auto inputs, auto labels) {
        if (!options_.augment) return data::load_example(*set_, example, inputs, labels);
        return data::load_augmented(*set_, example, randoms.of(i).fork(0), inputs, labels);
      });
  auto min_steps = numbers({batch.samples});
  const auto max_steps = static_cast<std::uint64_t>(options_.halt_max_steps);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto own = randoms.of(i).fork(1);
    const bool explores = max_steps > 1 && own.bernoulli(0, options_.halt_exploration_prob);
    min_steps.mutable_data_ptr<std::int32_t>()[i] =
        explores ? static_cast<std::int32_t>(2 + own.below(1, max_steps - 1)) : 0;
  }
  batch.tensors.emplace("least_steps", min_steps);
  return batch;
}

std::int64_t PuzzleDataset::epoch_samples(std::int64_t per_update) const {
  const auto drawn = static_cast<double>(set_->groups()) * static_cast<double>(options_.passes) *
                     set_->metadata.mean_puzzle_examples;
  const auto updates = static_cast<std::int64_t>(drawn / static_cast<double>(per_update));
  check(updates > 0, ErrorKind::Usage,
        "[trm.data] the puzzles between two evaluations do not fill a batch; got global_batch_size "
        "{}, "
        "expected at most {:.0f} ({} groups of puzzles in {} passes). Make the batch smaller or "
        "eval_interval larger.",
        per_update, std::floor(drawn), set_->groups(), options_.passes);
  return updates * per_update;
}

std::vector<std::int64_t> PuzzleDataset::order(std::int64_t epoch, std::int64_t per_update,
                                               const Random& /*random*/) const {
  const auto wanted = static_cast<std::size_t>(epoch_samples(per_update));
  std::vector<std::int64_t> order;
  order.reserve(wanted);
  // The original draws one round. Puzzles with several examples may fill fewer batches than their
  // mean suggests, because a batch takes only what fits: further rounds, with other seeds, supply
  // the rest.
  for (std::uint64_t round = 0; order.size() < wanted; ++round) {
    const auto before = order.size();
    data::PuzzleIteration iteration(
        *set_, {options_.seed + (round << 32U), per_update, options_.passes}, epoch + 1);
    while (order.size() < wanted) {
      const auto choice = iteration.next();
      if (!choice) break;
      order.insert(order.end(), choice->examples.begin(), choice->examples.end());
    }
    check(order.size() > before, ErrorKind::Usage,
          "[trm.data] {} passes through the puzzles do not fill a batch of {}; expected a smaller "
          "global_batch_size or a larger eval_interval.",
          options_.passes, per_update);
  }
  return order;
}

std::string PuzzleDataset::fingerprint() const {
  uLong crc = crc32(0, nullptr, 0);
  const auto add = [&crc](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  };
  for (const auto* rows : {&set_->inputs, &set_->labels}) {
    rows->wide() ? add(rows->words()) : add(rows->bytes());
  }
  add(set_->puzzle_identifiers);
  return fmt::format("{:08x}-{}", crc, set_->examples());
}

}  // namespace ubique::trm
