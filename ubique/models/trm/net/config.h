// SPDX-License-Identifier: Apache-2.0
// The architecture of a Tiny Recursive Model as plain data, with the original system's key names. A
// checkpoint stores all of it. No torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json_fwd.h"

namespace ubique::trm {

/// Position encoding: rotary, a learned table, or none (the token-mixing network has its own
/// weights for every position).
enum class Positions { Rope, Learned, None };

std::string_view to_string(Positions positions);  ///< "rope", "learned", "none"
Positions parse_positions(std::string_view text);

/// How the loss turns logits into probabilities: stablemax (s(x) = x + 1, 1 / (1 - x) below zero)
/// or softmax.
enum class LossForm { Stablemax, Softmax };

std::string_view to_string(LossForm form);  ///< "stablemax_cross_entropy", "softmax_cross_entropy"
LossForm parse_loss_form(std::string_view text);

struct TrmConfig {
  // Taken from the data set.
  std::int64_t seq_len = 81;  ///< tokens per puzzle
  std::int64_t vocab_size = 11;
  std::int64_t num_puzzle_identifiers = 1;

  std::int64_t hidden_size = 512;
  std::int64_t num_heads = 8;
  double expansion = 4;     ///< of the SwiGLU layers, before the factor 2/3 and rounding up to 256
  std::int64_t layers = 2;  ///< L_layers: blocks of the one shared stack
  std::int64_t high_cycles = 3;  ///< H_cycles: rounds per step; only the last one has gradients
  std::int64_t low_cycles = 6;   ///< L_cycles: updates of z_L per round
  bool mlp_t = false;            ///< tokens are mixed by an MLP over positions instead of attention
  bool causal = false;           ///< causal attention, for chat
  Positions positions = Positions::Rope;
  std::int64_t puzzle_emb_ndim = 512;  ///< size of a puzzle's embedding; 0 = none
  std::int64_t puzzle_emb_len = 16;    ///< prefix tokens that hold it
  std::int64_t halt_max_steps = 16;
  double halt_exploration_prob = 0.1;
  LossForm loss = LossForm::Stablemax;
  /// What the original computes in, kept for its files; here the plan chooses the dtype.
  std::string forward_dtype = "bfloat16";
  std::string kind;                 ///< of the data: "sudoku", "maze", "arc", "chat"; may be empty
  std::int64_t rows = 0, cols = 0;  ///< of a grid that is not square; 0 for a square one

  std::int64_t prefix()
      const;  ///< prefix tokens: puzzle_emb_len, or as many as puzzle_emb_ndim fills
  std::int64_t length() const { return seq_len + prefix(); }
  /// The halting logit is read at the first position. With causal attention that position sees no
  /// other, so every step is made and the halting head is not trained.
  bool halts_early() const { return !causal; }
  std::int64_t head_size() const { return hidden_size / num_heads; }
  std::int64_t inner_size(std::int64_t width) const;  ///< of a SwiGLU over `width` values
  std::string name() const;                           ///< "trm-mlp", "trm-att", "trm-chat"
  bool operator==(const TrmConfig&) const = default;
};

/// Keys of `arch`: hidden_size, num_heads, expansion, L_layers, H_cycles, L_cycles, mlp_t, causal,
/// pos_encodings, puzzle_emb_ndim, puzzle_emb_len, halt_max_steps, halt_exploration_prob,
/// loss.loss_type, forward_dtype; accepted with their one possible value: no_ACT_continue,
/// rms_norm_eps, rope_theta; accepted and ignored: H_layers. `defaults` holds what the data set
/// says. Usage error for values out of range.
TrmConfig read_arch(const Config& arch, TrmConfig defaults);
/// The same without the checks of whole networks, for defaults that are not known yet.
TrmConfig read_arch_keys(const Config& arch, TrmConfig defaults);

Json to_json(const TrmConfig& config);
/// Input error naming `where` and the key; missing keys keep their defaults, unknown ones are
/// refused.
TrmConfig from_json(const Json& json, const std::string& where);

/// An error of that kind for values out of range, naming the key.
void validate(const TrmConfig& config, ErrorKind kind = ErrorKind::Usage);

/// Number of parameters that AdamATan2 trains; the puzzle table is not counted.
std::int64_t parameter_count(const TrmConfig& config);

/// All numbers that a weight file of this network holds. The configuration must be valid.
std::int64_t stored_count(const TrmConfig& config);

}  // namespace ubique::trm
