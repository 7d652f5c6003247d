// SPDX-License-Identifier: Apache-2.0
// What a Tiny Recursive Model is, as plain data, under the original system's names. A checkpoint
// carries all of it. No torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ubique/base/config/config.h"
#include "ubique/base/error.h"
#include "ubique/base/text/json_fwd.h"

namespace ubique::trm {

/// How a token knows its place: rotated queries and keys, a learned table, or not at all (the
/// token-mixing network has its own weights for every place).
enum class Positions { Rope, Learned, None };

std::string_view to_string(Positions positions);  ///< "rope", "learned", "none"
Positions parse_positions(std::string_view text);

/// Probabilities from logits in the loss: s(x) = x + 1 or 1 / (1 - x), or exp.
enum class LossForm { Stablemax, Softmax };

std::string_view to_string(LossForm form);  ///< "stablemax_cross_entropy", "softmax_cross_entropy"
LossForm parse_loss_form(std::string_view text);

struct TrmConfig {
  // What the data says.
  std::int64_t seq_len = 81;  ///< tokens of a puzzle
  std::int64_t vocab_size = 11;
  std::int64_t num_puzzle_identifiers = 1;

  std::int64_t hidden_size = 512;
  std::int64_t num_heads = 8;
  double expansion = 4;          ///< of the SwiGLU layers, before 2/3 and rounding up to 256
  std::int64_t layers = 2;       ///< L_layers: of the one shared stack
  std::int64_t high_cycles = 3;  ///< H_cycles: rounds, of which the last one has gradients
  std::int64_t low_cycles = 6;   ///< L_cycles: calls of a round that better the latent state
  bool mlp_t = false;            ///< tokens are mixed by a network over their places
  bool causal = false;           ///< attention looks back alone: chat
  Positions positions = Positions::Rope;
  std::int64_t puzzle_emb_ndim = 512;  ///< numbers that a puzzle's identity has; 0 = none
  std::int64_t puzzle_emb_len = 16;    ///< tokens in front of the puzzle's that carry them
  std::int64_t halt_max_steps = 16;
  double halt_exploration_prob = 0.1;
  LossForm loss = LossForm::Stablemax;
  std::string kind;  ///< what the puzzles are: "sudoku", "maze", "arc", "chat"; may be empty
  std::int64_t rows = 0, cols = 0;  ///< of a grid that is not square; else 0, as seq_len tells

  std::int64_t prefix() const;  ///< tokens in front: puzzle_emb_len, or as many as ndim fills
  std::int64_t length() const { return seq_len + prefix(); }
  /// The wish to halt is read at the first place, which sees all others unless attention looks back
  /// alone: then every step is made, and the wish is not learnt.
  bool halts_early() const { return !causal; }
  std::int64_t head_size() const { return hidden_size / num_heads; }
  std::int64_t inner_size(std::int64_t width) const;  ///< of a SwiGLU over so many values
  std::string name() const;                           ///< "trm-mlp", "trm-att", "trm-chat"
  bool operator==(const TrmConfig&) const = default;
};

/// Keys of `arch`: hidden_size, num_heads, expansion, L_layers, H_cycles, L_cycles, mlp_t, causal,
/// pos_encodings, puzzle_emb_ndim, puzzle_emb_len, halt_max_steps, halt_exploration_prob,
/// loss.loss_type; accepted where they say what is so anyway: H_layers, no_ACT_continue,
/// rms_norm_eps, rope_theta. `defaults` has what the data says. Usage error for values that cannot
/// be.
TrmConfig read_arch(const Config& arch, TrmConfig defaults);

Json to_json(const TrmConfig& config);
/// Input error naming `where` and the key; missing keys keep their defaults, unknown ones are
/// refused.
TrmConfig from_json(const Json& json, const std::string& where);

/// An error of that kind for values that cannot be, naming the key.
void validate(const TrmConfig& config, ErrorKind kind = ErrorKind::Usage);

/// Of everything that AdamATan2 trains; the table of puzzles is not counted.
std::int64_t parameter_count(const TrmConfig& config);

}  // namespace ubique::trm
