// SPDX-License-Identifier: Apache-2.0
// What a model needs of a machine, as plain data: stated by a family for its configuration, or read
// from a YAML file for a user's own model. Counts are exact where arithmetic gives them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/base/numbers/dtype.h"
#include "ubique/probe/core/case.h"

namespace ubique::plan {

enum class Mode { Train, Run };

std::string_view to_string(Mode mode);  ///< "train", "run"

/// Parameters that are treated alike. LoRA has two groups: a frozen base and trainable adapters.
struct ParameterGroup {
  std::string name;
  std::int64_t count = 0;
  bool trainable = true;
  double bytes = 0;            ///< stored bytes each (0.5 for 4 bits); 0 = the plan's dtype decides
  std::int64_t in_blocks = 0;  ///< of them, those in blocks that can be split among processes
};

/// Numbers of elements per sample.
struct ActivationNeed {
  std::int64_t saved = 0;      ///< kept for the backward pass, in the compute dtype
  std::int64_t saved_f32 = 0;  ///< the same, in f32 whatever the dtype (norms, indices)
  /// On CUDA, of a sample that is alone in its micro-batch, instead of `saved` and `saved_f32`:
  /// where our kernels compute parts again that plain ops keep; 0 = the same.
  std::int64_t saved_cuda = 0;
  std::int64_t loss = 0;  ///< f32 values that checkpointing never drops, as those around the loss
  /// f32 values of what is computed piece by piece, those of one piece, whatever the batch: a loss,
  /// weights in fewer bits.
  std::int64_t loss_piece = 0;
  std::int64_t transient = 0;  ///< alive beside the saved ones at the peak of the backward pass
  std::int64_t run = 0;        ///< alive at the peak of inference
  std::int64_t kv_cache = 0;   ///< keys and values of past tokens, beside `run`
  std::int64_t largest = 0;    ///< of the largest single tensor
};

struct InputNeed {
  std::string name;
  std::vector<std::int64_t> shape;  ///< of one sample
  DType dtype = DType::F32;
};

struct ConvNeed {
  int dims = 2;  ///< 1, 2 or 3
  std::int64_t in = 1, out = 1, kernel = 3, dilation = 1;
  std::int64_t length = 0;  ///< longest spatial extent; 0 = not stated
};

struct AttentionNeed {
  std::int64_t layers = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;  ///< fewer than heads: grouped queries
  std::int64_t head_dim = 64;
  std::int64_t queries = 1, keys = 1;  ///< sequence lengths of one sample
  std::int64_t window = 0;             ///< sliding window; 0 = none
  bool causal = false;
  bool mask = false;     ///< the model brings an additive or padding mask
  bool dropout = false;  ///< of the probabilities
};

/// One level of gradient checkpointing: activations are recomputed instead of saved.
struct CheckpointLevel {
  std::int64_t segments = 0;  ///< parts that are recomputed one by one; 0 = up to the model
  double kept = 1;            ///< share of the saved activations that is alive at the peak
  double extra = 0;           ///< extra work as a share of a training step, for the reason
};

struct CheckpointingNeed {
  bool supported = false;
  double kept = 1, extra = 0;           ///< of the only level, if `levels` is empty
  std::vector<CheckpointLevel> levels;  ///< least work first

  std::vector<CheckpointLevel> all() const;  ///< none if not supported
};

/// Differences on a CPU for a model that has its own CPU kernels.
struct HostNeed {
  bool own_kernels = false;  ///< in f32, and faster than torch's in any dtype
  std::int64_t run = 0;      ///< elements at the peak of inference, instead of ActivationNeed::run
  std::int64_t train = 0;    ///< elements of the kernels' scratch space in a training step
};

/// A stage of inference with weights of its own, before or after others: a text encoder, a
/// denoiser, a decoder. Its weights need to be in memory only while it lasts.
struct StageNeed {
  std::string name;
  std::vector<ParameterGroup> parameters;  ///< bytes 0 = the plan's dtype decides
  std::int64_t run = 0;                    ///< elements alive at its peak
  std::int64_t run_f32 = 0;                ///< the same, in f32 whatever the dtype
  double run_each = 0;                     ///< of `run`, for each unit of Needs::length
};

/// The length of what is made, which a person chooses.
struct LengthNeed {
  std::string unit = {};  ///< "seconds"; empty: there is no such length
  double value = 0;       ///< that these needs are for
  double most = 0;        ///< the model's own limit
};

struct Needs {
  std::string name;    ///< "meshnet-26"
  std::string family;  ///< "meshnet"; empty for users' own models
  std::vector<ParameterGroup> parameters;
  ActivationNeed activations;
  double flops_run = 0;    ///< of one sample, forward
  double flops_train = 0;  ///< of one sample in a training step; 0 = three times flops_run
  std::vector<InputNeed> inputs;
  std::vector<ConvNeed> convs;
  std::vector<AttentionNeed> attention;
  std::vector<std::string> ops;     ///< other probed ops it depends on: "matmul", "batch_norm3d"
  std::vector<probe::Case> probes;  ///< cases beyond those that convs and attention imply
  bool tolerates_f16 = false;
  bool tolerates_bf16 = false;
  bool f32_on_metal = false;  ///< half precision gave NaNs on Metal: used there only on request
  bool dropout = false;
  bool fixed_shapes = true;
  bool shapes_repeat = false;     ///< not fixed, but a few come again and again in training
  bool graph_capturable = false;  ///< inference never synchronises with the host
  bool train_capturable = false;  ///< a whole update never does
  std::string optimizer = "adamw";
  double optimizer_states = 2;       ///< f32 values per trainable parameter
  int weight_averages = 0;           ///< further f32 copies (EMA)
  std::int64_t effective_batch = 1;  ///< samples per optimizer step that the recipe recommends
  std::int64_t run_batch = 1;        ///< samples at once in inference, at most
  std::int64_t busy_batch = 1;       ///< fewest samples that keep an accelerator busy
  std::int64_t max_batch = 0;        ///< most samples at once; 0 = no limit
  std::int64_t pad_width = 0;        ///< channels that may be padded with zeros; 0 = none
  CheckpointingNeed checkpointing;
  std::int64_t blocks = 0;     ///< computed one after the other, whose weights can be split
  bool own_optimizer = false;  ///< the family's, which is never split
  HostNeed host;
  std::vector<StageNeed> stages;    ///< of inference; empty: `parameters` and `activations` say it
  LengthNeed length;                ///< of what the stages make
  std::int64_t workspace_cuda = 0;  ///< extra bytes that vendor kernels use when there is room

  std::int64_t parameter_count() const;
  std::int64_t trainable_count() const;
  bool can_train() const { return activations.saved > 0; }
  bool uses_op(std::string_view op) const;
  bool has_conv(int dims) const;
};

/// The same needs for another length.
Needs at_length(const Needs& needs, double length);

/// Usage error for an invalid value, naming the key.
void check_needs(const Needs& needs);
Needs read_needs(const Config& config);
/// Reads and checks a whole file; unknown keys are refused.
Needs read_needs_file(const std::string& path);

/// The cases to probe for this model: its convolutions and attention with their channels, dilations
/// and head sizes, extents scaled down (channels too where a kernel is huge), and those it lists
/// itself.
std::vector<probe::Case> probe_cases(const Needs& needs);

/// Optimizers that training implements; a file's `optimizer:` may name others too.
std::vector<std::string> optimizer_names();

}  // namespace ubique::plan
