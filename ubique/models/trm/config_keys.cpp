// SPDX-License-Identifier: Apache-2.0
// A TRM's configuration as people write it (the original system's keys) and as a checkpoint's
// header holds it.
#include "ubique/base/json_fields.h"
#include "ubique/models/trm/config.h"

namespace ubique::trm {
namespace {

/// A key that has one value here: said, it must say that.
template <typename T>
void expect(const Config& arch, const char* key, const T& only, const char* why) {
  const auto found = arch.find<T>(key);
  check(!found || *found == only, ErrorKind::Usage,
        "[trm.config] arch.{} has one value here; expected {}. {}", key, only, why);
}

}  // namespace

TrmConfig read_arch(const Config& arch, TrmConfig config) {
  config.hidden_size = arch.get("hidden_size", config.hidden_size);
  config.num_heads = arch.get("num_heads", config.num_heads);
  config.expansion = arch.get("expansion", config.expansion);
  config.layers = arch.get("L_layers", config.layers);
  config.high_cycles = arch.get("H_cycles", config.high_cycles);
  config.low_cycles = arch.get("L_cycles", config.low_cycles);
  config.mlp_t = arch.get("mlp_t", config.mlp_t);
  config.causal = arch.get("causal", config.causal);
  const auto positions = config.mlp_t ? Positions::None : config.positions;
  config.positions = parse_positions(arch.get("pos_encodings", std::string(to_string(positions))));
  // A row of the table is as wide as the network unless somebody says otherwise.
  const auto width = config.puzzle_emb_ndim == 0 ? 0 : config.hidden_size;
  config.puzzle_emb_ndim = arch.get("puzzle_emb_ndim", width);
  config.puzzle_emb_len = arch.get("puzzle_emb_len", config.puzzle_emb_len);
  if (config.puzzle_emb_ndim == 0) config.puzzle_emb_len = 0;
  config.halt_max_steps = arch.get("halt_max_steps", config.halt_max_steps);
  config.halt_exploration_prob = arch.get("halt_exploration_prob", config.halt_exploration_prob);
  config.loss = parse_loss_form(arch.get("loss.loss_type", std::string(to_string(config.loss))));
  arch.find<std::int64_t>("H_layers");  // the original ignores it too
  expect<bool>(arch, "no_ACT_continue", true,
               "The path with a second forward pass crashes upstream.");
  expect<double>(arch, "rms_norm_eps", 1e-5, "");
  expect<double>(arch, "rope_theta", 10000, "");
  validate(config);
  return config;
}

Json to_json(const TrmConfig& config) {
  Json json{{"seq_len", config.seq_len},
            {"vocab_size", config.vocab_size},
            {"num_puzzle_identifiers", config.num_puzzle_identifiers},
            {"hidden_size", config.hidden_size},
            {"num_heads", config.num_heads},
            {"expansion", config.expansion},
            {"L_layers", config.layers},
            {"H_cycles", config.high_cycles},
            {"L_cycles", config.low_cycles},
            {"mlp_t", config.mlp_t},
            {"causal", config.causal},
            {"pos_encodings", to_string(config.positions)},
            {"puzzle_emb_ndim", config.puzzle_emb_ndim},
            {"puzzle_emb_len", config.puzzle_emb_len},
            {"halt_max_steps", config.halt_max_steps},
            {"halt_exploration_prob", config.halt_exploration_prob},
            {"loss_type", to_string(config.loss)},
            {"kind", config.kind}};
  if (config.rows > 0) json["rows"] = config.rows, json["cols"] = config.cols;
  return json;
}

TrmConfig from_json(const Json& json, const std::string& where) {
  TrmConfig config;
  JsonFields fields(json, "trm.config", where);
  fields.take("seq_len", config.seq_len);
  fields.take("vocab_size", config.vocab_size);
  fields.take("num_puzzle_identifiers", config.num_puzzle_identifiers);
  fields.take("hidden_size", config.hidden_size);
  fields.take("num_heads", config.num_heads);
  fields.take("expansion", config.expansion);
  fields.take("L_layers", config.layers);
  fields.take("H_cycles", config.high_cycles);
  fields.take("L_cycles", config.low_cycles);
  fields.take("mlp_t", config.mlp_t);
  fields.take("causal", config.causal);
  fields.take_name<Positions>("pos_encodings", config.positions, parse_positions);
  fields.take("puzzle_emb_ndim", config.puzzle_emb_ndim);
  fields.take("puzzle_emb_len", config.puzzle_emb_len);
  fields.take("halt_max_steps", config.halt_max_steps);
  fields.take("halt_exploration_prob", config.halt_exploration_prob);
  fields.take_name<LossForm>("loss_type", config.loss, parse_loss_form);
  fields.take("kind", config.kind);
  fields.take("rows", config.rows);
  fields.take("cols", config.cols);
  fields.finish();
  validate(config, ErrorKind::Input);
  return config;
}

}  // namespace ubique::trm
