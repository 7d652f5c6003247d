// SPDX-License-Identifier: Apache-2.0
// Continuous batching: requests wait for a free slot of a decoder, join the others at any step, and
// leave when they are done. Each gets the text that it would get alone. Prints nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ubique/base/error.h"
#include "ubique/device/threads/load_aware_threads.h"
#include "ubique/io/text/tokenizer.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::nn {

/// A text to continue.
struct GenerateRequest {
  std::vector<std::int32_t> prompt;
  GenerateOptions options = {};
  ShowText show = {};                                    ///< text as it comes
  std::function<void(const Completion&)> finished = {};  ///< once, at the end
  std::function<void()> started = {};                    ///< it has a slot
  /// Each token before its text is shown; with its logprob first and those of the likeliest, if
  /// they were asked for.
  std::function<void(std::int32_t token, const std::vector<TokenLogprob>&)> chosen = {};
  /// Instead of `finished` and of an exception: this request alone has failed.
  std::function<void(const Error&)> failed = {};
};

class Generator {
 public:
  /// Both must outlive this.
  Generator(Decoder& decoder, const io::Tokenizer& tokenizer);
  ~Generator();

  /// Waits for a free slot. Usage error for impossible options, Input error for a prompt that
  /// leaves no room in the decoder's context.
  /// Returns a number for cancel().
  std::uint64_t submit(GenerateRequest request);
  /// Ends a request, which frees its slot; `finished` gets what there is. Not from a callback.
  void cancel(std::uint64_t request);
  /// Starts the requests for which there are slots: their first tokens are chosen. Part of step(),
  /// for those who want to pass these on at once.
  void join();
  /// Lets requests join, then makes one pass for all that are running. False if there was nothing
  /// to do.
  bool step();

  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return running_.size(); }

 private:
  struct Running;
  struct Waiting {
    std::uint64_t number;
    GenerateRequest request;
  };

  using Joining = std::vector<std::unique_ptr<Running>>;
  Joining take_slots();
  Predictions start(std::span<const std::unique_ptr<Running>> joining);
  void begin(std::unique_ptr<Running> joined, const Predictions* next, std::size_t row);
  std::int64_t best_slot(std::span<const std::int32_t> prompt, const Joining& joining) const;

  Decoder& decoder_;
  const io::Tokenizer& tokenizer_;
  std::deque<Waiting> waiting_;
  std::uint64_t submitted_ = 0;
  std::vector<std::unique_ptr<Running>> running_;
  device::LoadAwareThreads threads_;
};

}  // namespace ubique::nn
