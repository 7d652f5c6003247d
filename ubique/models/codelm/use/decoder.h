// SPDX-License-Identifier: Apache-2.0
// Incremental decoding of a code language model, with a KV cache per layer in which every slot has
// a row. A step of some slots is one pass of fixed shape; where the device records work, it is
// recorded once and then launched as one. A few tokens on a CPU go through nn::HostStep; one for
// each slot, where the device has kernels for it, through nn::DeviceStep, which begins the step
// after it before the host has read this one. Token ids only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ubique/device/readback.h"
#include "ubique/device/recording.h"
#include "ubique/models/codelm/net/network.h"
#include "ubique/models/codelm/use/step_shape.h"
#include "ubique/nn/decode/decoder.h"
#include "ubique/nn/decode/host_step.h"
#include "ubique/nn/steps/device_step.h"

namespace ubique::codelm {

struct DecoderOptions {
  std::int64_t slots = 1;        ///< texts at once
  std::int64_t most_tokens = 0;  ///< of a text; 0 = the model's context
  bool record = false;           ///< record steps for replay (Plan::graph_capture)
  bool own_steps = true;         ///< false: plain ops for few tokens too, for comparison
};

class CodelmDecoder final : public nn::Decoder {
 public:
  /// The network on its device, which must outlive this and keep its weights. Caches grow with the
  /// longest text.
  explicit CodelmDecoder(const Codelm& network, const PassOptions& pass = {},
                         const DecoderOptions& options = {});
  ~CodelmDecoder() override;

  std::int64_t context_length() const override { return limit_; }
  std::int64_t vocabulary() const override { return network_.config().vocabulary; }
  /// Steps of one token for each slot go through the device's own kernels.
  bool has_kernels() const { return !device_.empty(); }

 private:
  /// What a pass of n tokens for B slots reads and writes, always the same memory.
  struct Step {
    StepShape shape;
    at::Tensor inputs;                // (2, B, n) i64: ids and positions
    nn::DeviceStepResults results;    // (B·n, V) and (B·n, 2), f32; for prompts (B, V) and (B, 2)
    std::vector<nn::KvCache> caches;  // rows of these slots, one per layer
    std::int64_t extent = 0;          // cached positions that are read
    std::unique_ptr<device::Recording> recording;
    device::Readback readback;
    std::int64_t launches = 0;
  };

  nn::Predictions append(const nn::Extension& extension, std::int64_t predicted,
                         nn::Wanted wanted) override;
  nn::Predictions append_each(std::span<const nn::Extension> extensions,
                              nn::Wanted wanted) override;
  std::optional<nn::Predictions> append_prompts(std::span<const nn::Extension> prompts,
                                                nn::Wanted wanted) override;
  void make_device_steps();
  void reserve(std::int64_t positions);
  nn::Predictions append_on_host(std::span<const nn::Extension> extensions,
                                 std::size_t first_predicted, nn::Wanted wanted);
  std::int64_t capacity() const { return caches_.empty() ? 0 : caches_.front().capacity(); }
  std::int64_t longest_text(std::span<const nn::Extension> extensions,
                            const StepShape& shape) const;
  at::Tensor inputs_of(std::span<const nn::Extension> extensions, const StepShape& shape) const;
  void compute(Step& step);
  bool is_to_be_recorded(Step& step);
  void launch(Step& step);
  Step& prepared_step(const StepShape& shape);
  bool is_ahead(const Step& step, const at::Tensor& inputs,
                std::span<const nn::Extension> extensions) const;
  void forget_ahead();
  nn::Predictions read_and_go_on(Step& step, const at::Tensor& inputs,
                                 std::span<const nn::Extension> extensions);
  nn::Predictions read_step(const Step& step, std::span<const nn::Extension> extensions,
                            nn::Wanted wanted) const;

  const Codelm& network_;
  PassOptions pass_;
  DecoderOptions options_;
  std::int64_t limit_;
  std::vector<nn::KvCache> caches_;  // one per layer
  std::map<StepShape, Step> steps_;
  int recorded_prompts_ = 0;
  std::unique_ptr<nn::HostStep> host_;  // null: not on this device, or recorded
  std::map<std::int64_t, std::unique_ptr<nn::DeviceStep>> device_;  // by rows; none: no kernels
  /// The step that runs ahead: what its inputs are if the likeliest tokens are chosen, (2, B) on
  /// the host; undefined if there is none. It goes ahead after two single tokens in a row.
  at::Tensor ahead_;
  StepShape ahead_shape_;
  bool went_ahead_ = false, single_before_ = false;
};

}  // namespace ubique::codelm
