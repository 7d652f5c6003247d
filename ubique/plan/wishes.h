// SPDX-License-Identifier: Apache-2.0
// What the user asks for, as plain data: flags > environment > YAML > defaults. A requested value
// is kept or refused with the reason; a preferred one (keys of the older projects' files, which
// were written for one machine) yields to what the device can do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/base/config/config.h"
#include "ubique/base/numbers/dtype.h"
#include "ubique/plan/needs.h"

namespace ubique::plan {

enum class Toggle { Auto, On, Off };

/// How exact f32 has to be. Strict: f32 means f32. Balanced: half precision with f32 islands and
/// TF32 where probes pass. Fast: also half-precision accumulation and no islands in inference.
enum class Numerics { Strict, Balanced, Fast };

/// Which attention code runs. ExplicitMask: fused, with the causal mask given as a tensor.
enum class Attention { None, Flash, Efficient, Math, ExplicitMask };

/// No batch, count of threads or number of processes is larger than this.
inline constexpr std::int64_t kMostSamples = std::int64_t{1} << 30;

/// What the processes of a training split among themselves. Optimizer: its states. Weights: the
/// blocks' weights and gradients too; a block's weights are whole only while it is computed.
enum class Shard { None, Optimizer, Weights };

std::string_view to_string(Toggle toggle);        ///< "auto", "on", "off"
std::string_view to_string(Numerics numerics);    ///< "strict", "balanced", "fast"
std::string_view to_string(Attention attention);  ///< "none", "flash", ..., "explicit_mask"
std::string_view to_string(Shard shard);          ///< "none", "optimizer", "weights"

struct Wishes {
  Mode mode = Mode::Train;
  std::string device = "auto";            ///< as typed: "cuda", "metal", "auto"
  std::optional<DType> dtype;             ///< required
  std::string dtype_reason = "as asked";  ///< why it is
  std::optional<DType> preferred_dtype;   ///< wanted where the device does it well
  std::optional<DType> preferred_on_mps;  ///< the same, on Metal only
  bool prefers_half = false;              ///< any half precision, the same
  std::optional<Attention> attention;     ///< none = choose
  std::int64_t batch = 0;                 ///< samples at once; 0 = choose
  std::int64_t effective_batch = 0;       ///< samples per optimizer step; 0 = the model's own
  std::int64_t accumulation = 0;          ///< 0 = follows from the two above
  Toggle checkpointing = Toggle::Auto;
  Toggle channels_last = Toggle::Auto;
  Toggle graph_capture = Toggle::Auto;
  Toggle fused = Toggle::Auto;
  Toggle pin_memory = Toggle::Auto;
  std::int64_t memory = 0;  ///< cap in bytes; 0 = the device's budget
  bool deterministic = false;
  Numerics numerics = Numerics::Balanced;
  int world_size = 1;
  std::optional<Shard> shard;  ///< none = choose
  int threads = 0;             ///< compute threads on the CPU; 0 = all cores
  int prefetch_threads = -1;   ///< -1 = choose
};

/// Reads our own keys and those of the older projects' files that concern devices (the table is in
/// docs/reference/plan.md). Usage error for an invalid value and for two keys that disagree.
Wishes read_wishes(const Config& config);

/// Every key that read_wishes reads, ours and the older ones.
std::vector<std::string> wish_keys();

/// The second half of read_wishes: older keys, which count where our own are not set.
void read_adopted_keys(const Config& config, Wishes& wishes);

std::vector<std::string> attention_names();  ///< what `attention:` takes
/// Reads our names and the older ones ("xformers", "sdpa" and "metal" mean: choose).
std::optional<Attention> parse_attention(const Config& config, std::string_view key);
DType parse_wished_dtype(const std::string& text, const std::string& where);

}  // namespace ubique::plan
