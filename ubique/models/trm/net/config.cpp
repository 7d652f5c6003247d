// SPDX-License-Identifier: Apache-2.0
// Reading the configuration from the original system's keys and from a checkpoint's header, and the
// checks of its values.
#include "ubique/models/trm/net/config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ubique/base/numbers/dtype.h"
#include "ubique/base/text/json_fields.h"
#include "ubique/base/text/text.h"

namespace ubique::trm {

namespace {

template <typename Value, std::size_t size>
Value parse_name(std::string_view text, const std::array<Value, size>& values, const char* what) {
  std::vector<std::string> names;
  for (const auto value : values) {
    names.emplace_back(to_string(value));
    if (names.back() == text) return value;
  }
  fail(ErrorKind::Usage, "[trm.config] unknown {}; got '{}', expected one of {}.{}", what, text,
       join(names, ", "), hint(std::string(text), names));
}

/// The name that torch has for it: "bf16" and "torch.bfloat16" are "bfloat16"; empty if unknown.
std::string torch_dtype_name(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  const auto dtype = parse_dtype(text);
  if (dtype == DType::BF16) return "bfloat16";
  if (dtype == DType::F16) return "float16";
  if (dtype == DType::F32) return "float32";
  return dtype == DType::F64 ? "float64" : "";
}

std::int64_t ceil_div(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// The number of heads nearest to the one given that divides the width, if there is any.
std::string heads_hint(const TrmConfig& config) {
  const auto fits = [&](std::int64_t heads) {
    return heads > 0 && config.hidden_size % (2 * heads) == 0;
  };
  for (std::int64_t away = 1; away <= config.num_heads; ++away) {
    for (const auto heads : {config.num_heads - away, config.num_heads + away}) {
      if (fits(heads)) return fmt::format(" arch.num_heads={} does.", heads);
    }
  }
  return {};
}

}  // namespace

std::string_view to_string(Positions positions) {
  switch (positions) {
    case Positions::Rope:
      return "rope";
    case Positions::Learned:
      return "learned";
    case Positions::None:
      return "none";
  }
  return "";
}

Positions parse_positions(std::string_view text) {
  return parse_name(text, std::array{Positions::Rope, Positions::Learned, Positions::None},
                    "pos_encodings");
}

std::string_view to_string(LossForm form) {
  return form == LossForm::Stablemax ? "stablemax_cross_entropy" : "softmax_cross_entropy";
}

LossForm parse_loss_form(std::string_view text) {
  return parse_name(text, std::array{LossForm::Stablemax, LossForm::Softmax}, "loss_type");
}

std::int64_t TrmConfig::prefix() const {
  if (puzzle_emb_ndim == 0) return 0;
  return puzzle_emb_len > 0 ? puzzle_emb_len : ceil_div(puzzle_emb_ndim, hidden_size);
}

std::int64_t TrmConfig::inner_size(std::int64_t width) const {
  constexpr std::int64_t kMultiple = 256;
  const auto wanted = static_cast<std::int64_t>(
      std::nearbyint(expansion * static_cast<double>(width) * 2 / 3));  // ties to even, as Python
  return ceil_div(wanted, kMultiple) * kMultiple;
}

std::string TrmConfig::name() const { return causal ? "trm-chat" : mlp_t ? "trm-mlp" : "trm-att"; }

void validate(const TrmConfig& config, ErrorKind kind) {
  // The upper limits are far beyond any use and keep products of sizes within 64 bits. Those of
  // cycles and steps keep a file's wrong number from computing for ever.
  constexpr std::int64_t kMostCycles = 1000, kMostSteps = 10000;
  const auto within = [kind](const char* key, std::int64_t value, std::int64_t least,
                             std::int64_t most = 1 << 20) {
    check(value >= least && value <= most, kind,
          "[trm.config] {} is out of range; got {}, expected {} to {}.", key, value, least, most);
  };
  within("seq_len", config.seq_len, 1);
  within("vocab_size", config.vocab_size, 2, 1 << 28);
  within("num_puzzle_identifiers", config.num_puzzle_identifiers, 1, std::int64_t{1} << 31);
  within("hidden_size", config.hidden_size, 2);
  within("num_heads", config.num_heads, 1);
  within("L_layers", config.layers, 1, 1 << 8);
  within("H_cycles", config.high_cycles, 1, kMostCycles);
  within("L_cycles", config.low_cycles, 1, kMostCycles);
  within("puzzle_emb_ndim", config.puzzle_emb_ndim, 0);
  within("puzzle_emb_len", config.puzzle_emb_len, 0);
  within("halt_max_steps", config.halt_max_steps, 1, kMostSteps);
  check((config.rows == 0 && config.cols == 0) ||
            (config.rows > 0 && config.cols > 0 && config.seq_len % config.rows == 0 &&
             config.seq_len / config.rows == config.cols),
        kind, "[trm.config] a grid of {}x{} does not fit; expected {} cells (seq_len).",
        config.rows, config.cols, config.seq_len);
  check(config.expansion > 0 && config.expansion <= 1024, kind,
        "[trm.config] expansion is out of range; got {}, expected above 0 and at most 1024.",
        config.expansion);
  check(config.inner_size(config.hidden_size) > 0 && config.inner_size(config.length()) > 0, kind,
        "[trm.config] expansion {} of {} values leaves none; expected a larger one.",
        config.expansion, std::min(config.hidden_size, config.length()));
  const auto explores = config.halt_exploration_prob;
  check(explores >= 0 && explores <= 1, kind,
        "[trm.config] halt_exploration_prob is out of range; got {}, expected 0 to 1.", explores);
  check(config.hidden_size % config.num_heads == 0 && config.head_size() % 2 == 0, kind,
        "[trm.config] hidden_size {} does not divide into {} heads of an even size.{}",
        config.hidden_size, config.num_heads, kind == ErrorKind::Usage ? heads_hint(config) : "");
  check(config.prefix() * config.hidden_size >= config.puzzle_emb_ndim, kind,
        "[trm.config] a puzzle's {} numbers do not fit into puzzle_emb_len {} tokens of {}.",
        config.puzzle_emb_ndim, config.puzzle_emb_len, config.hidden_size);
  check(torch_dtype_name(config.forward_dtype) == config.forward_dtype, kind,
        "[trm.config] forward_dtype is unknown; got '{}', expected bfloat16, float16, float32 or "
        "float64.",
        config.forward_dtype);
  check(!(config.mlp_t && config.causal), kind,
        "[trm.config] mlp_t with causal: the token-mixing network sees later tokens, so it "
        "would read its own labels; got both, expected one. Chat needs attention.");
  check(!(config.mlp_t && config.positions == Positions::Rope), kind,
        "[trm.config] mlp_t has no queries and keys to rotate; got pos_encodings rope, expected "
        "none or learned.");
}

std::int64_t parameter_count(const TrmConfig& config) {
  const auto h = config.hidden_size, l = config.length();
  const auto swiglu = [&](std::int64_t width) { return 3 * width * config.inner_size(width); };
  const auto layer = (config.mlp_t ? swiglu(l) : 4 * h * h) + swiglu(h);
  const auto positions = config.positions == Positions::Learned ? l * h : 0;
  return 2 * config.vocab_size * h + 2 * h + 2 + config.layers * layer + positions;
}

std::int64_t stored_count(const TrmConfig& config) {
  const auto table =
      config.puzzle_emb_ndim > 0 ? config.num_puzzle_identifiers * config.puzzle_emb_ndim : 0;
  return parameter_count(config) + table + 2 * config.hidden_size;  // H_init and L_init
}

namespace {

/// Accepts a key that has a single possible value here; Usage error for any other value.
template <typename T>
void expect(const Config& arch, const char* key, const T& only, const char* why) {
  const auto found = arch.find<T>(key);
  check(!found || *found == only, ErrorKind::Usage,
        "[trm.config] arch.{} has one value here; expected {}. {}", key, only, why);
}

}  // namespace

TrmConfig read_arch_keys(const Config& arch, TrmConfig config) {
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
  // By default a row of the puzzle table is as wide as the network.
  const auto width = config.puzzle_emb_ndim == 0 ? 0 : config.hidden_size;
  config.puzzle_emb_ndim = arch.get("puzzle_emb_ndim", width);
  config.puzzle_emb_len = arch.get("puzzle_emb_len", config.puzzle_emb_len);
  if (config.puzzle_emb_ndim == 0) config.puzzle_emb_len = 0;
  config.halt_max_steps = arch.get("halt_max_steps", config.halt_max_steps);
  config.halt_exploration_prob = arch.get("halt_exploration_prob", config.halt_exploration_prob);
  config.loss = parse_loss_form(arch.get("loss.loss_type", std::string(to_string(config.loss))));
  // Names that only a plan reads ("auto", "16-mixed") leave the original's value.
  // Not get(): a default in run.yaml would become a wish for the plan.
  const auto dtype = torch_dtype_name(arch.find<std::string>("forward_dtype").value_or(""));
  if (!dtype.empty()) config.forward_dtype = dtype;
  arch.find<std::int64_t>("H_layers");  // accepted and ignored, as in the original
  expect<bool>(arch, "no_ACT_continue", true,
               "The path with a second forward pass crashes upstream.");
  expect<double>(arch, "rms_norm_eps", 1e-5, "");
  expect<double>(arch, "rope_theta", 10000, "");
  return config;
}

TrmConfig read_arch(const Config& arch, TrmConfig config) {
  config = read_arch_keys(arch, std::move(config));
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
  // Only where it differs, so that older checkpoints have the same configuration.
  if (config.forward_dtype != TrmConfig().forward_dtype) {
    json["forward_dtype"] = config.forward_dtype;
  }
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
  fields.take("forward_dtype", config.forward_dtype);
  fields.finish();
  validate(config, ErrorKind::Input);
  return config;
}

}  // namespace ubique::trm
