// SPDX-License-Identifier: Apache-2.0
// Incremental decoding of a code language model, with a KV cache per layer in which every slot has
// a row. A step of all slots is one pass of fixed shape; where the device records work, it is
// recorded once and then launched as one. A few tokens on a CPU go through nn::HostStep. Token ids
// only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ubique/device/recording.h"
#include "ubique/models/codelm/net/network.h"
#include "ubique/nn/decode/decoder.h"
#include "ubique/nn/decode/host_step.h"

namespace ubique::codelm {

struct DecoderOptions {
  std::int64_t slots = 1;        ///< texts at once
  std::int64_t most_tokens = 0;  ///< of a text; 0 = the model's context
  bool record = false;           ///< record steps for replay (Plan::graph_capture)
  bool on_host = true;           ///< false: plain ops for few tokens on a CPU too, for comparison
};

class CodelmDecoder final : public nn::Decoder {
 public:
  /// The network on its device, which must outlive this and keep its weights. Caches grow with the
  /// longest text.
  explicit CodelmDecoder(const Codelm& network, const PassOptions& pass = {},
                         const DecoderOptions& options = {});

  std::int64_t context_length() const override { return limit_; }
  std::int64_t vocabulary() const override { return network_.config().vocabulary; }

 private:
  /// What a pass of n tokens for every slot reads and writes, always the same memory.
  struct Step {
    at::Tensor inputs;             // (2, B, n) i64: ids and positions
    at::Tensor logits, likeliest;  // (B·n, V) and (B·n, 2), f32
    std::int64_t extent = 0;       // cached positions that are read
    std::unique_ptr<device::Recording> recording;
  };

  nn::Predictions append(const nn::Extension& extension, std::int64_t predicted,
                         nn::Wanted wanted) override;
  nn::Predictions append_each(std::span<const nn::Extension> extensions,
                              nn::Wanted wanted) override;
  void reserve(std::int64_t positions);
  nn::Predictions append_on_host(std::span<const nn::Extension> extensions,
                                 std::size_t first_predicted, nn::Wanted wanted);
  std::int64_t capacity() const { return caches_.empty() ? 0 : caches_.front().capacity(); }
  at::Tensor inputs_of(std::span<const nn::Extension> extensions, std::int64_t width) const;
  void compute(Step& step);
  Step& prepared_step(std::int64_t width);
  nn::Predictions read_step(const Step& step, std::span<const nn::Extension> extensions,
                            std::int64_t width, nn::Wanted wanted) const;

  const Codelm& network_;
  PassOptions pass_;
  DecoderOptions options_;
  std::int64_t limit_;
  std::vector<nn::KvCache> caches_;     // one per layer
  std::map<std::int64_t, Step> steps_;  // by tokens per slot
  std::unique_ptr<nn::HostStep> host_;  // null: not on this device, or recorded
};

}  // namespace ubique::codelm
