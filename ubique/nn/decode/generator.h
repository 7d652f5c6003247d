// SPDX-License-Identifier: Apache-2.0
// Continuous batching: requests wait for a free slot of a decoder, join the others at any step, and
// leave when they are done. Each gets the text that it would get alone. Prints nothing.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

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
};

class Generator {
 public:
  /// Both must outlive this.
  Generator(Decoder& decoder, const io::Tokenizer& tokenizer);
  ~Generator();

  /// Waits for a free slot. Usage error for impossible options, Input error for a prompt that
  /// leaves no room in the decoder's context.
  void submit(GenerateRequest request);
  /// Lets requests join, then makes one pass for all that are running. False if there was nothing
  /// to do.
  bool step();

 private:
  struct Running;

  void join();
  std::int64_t best_slot(std::span<const std::int32_t> prompt) const;

  Decoder& decoder_;
  const io::Tokenizer& tokenizer_;
  std::deque<GenerateRequest> waiting_;
  std::vector<std::unique_ptr<Running>> running_;
  device::LoadAwareThreads threads_;
};

}  // namespace ubique::nn
