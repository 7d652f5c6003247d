// SPDX-License-Identifier: Apache-2.0
// Reads Needs from YAML. The keys are listed in docs/reference/plan.md; any other is an error.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/text.h"
#include "ubique/plan/needs.h"

namespace ubique::plan {
namespace {

struct OptimizerRow {
  const char* name;
  double states;     // f32 values kept per trainable parameter
  bool implemented;  // `ubique train` has it; the others are for plans of users' own models
};

constexpr OptimizerRow kOptimizers[] = {
    {"adamw", 2, true},    {"adam", 2, false}, {"adam_tf1", 2, true}, {"adam_atan2", 2, true},
    {"rmsprop", 1, false}, {"lion", 1, false}, {"sgd", 0, true},      {"sgd_momentum", 1, false},
};

// Ops beside convolutions and attention whose verdicts change a plan.
const std::vector<std::string> kKnownOps = {
    "matmul",
    "linear",
    "batch_norm2d",
    "batch_norm3d",
    "layer_norm.frozen_input",
    "cumsum",
    "float64",
    "sampling.zero_probability",
};

std::vector<std::string> read_ops(const Config& config) {
  auto ops = config.get<std::vector<std::string>>("ops", {});
  for (const auto& op : ops) {
    check(std::find(kKnownOps.begin(), kKnownOps.end(), op) != kKnownOps.end(), ErrorKind::Usage,
          "[plan.needs] {}: no probe is about such an op; got '{}', expected {}.{}",
          config.where("ops"), op, join(kKnownOps, ", "), hint(op, kKnownOps));
  }
  return ops;
}

DType read_dtype(const Config& config, std::string_view key, DType fallback) {
  const auto text = config.find<std::string>(key);
  if (!text) return fallback;
  const auto dtype = parse_dtype(*text);
  check(dtype.has_value(), ErrorKind::Usage,
        "[plan.needs] {}: unknown dtype; got '{}', expected e.g. f32, bf16, u8, i64.",
        config.where(key), *text);
  return *dtype;
}

double optimizer_states(const Config& config, const std::string& name) {
  if (const auto stated = config.find<double>("optimizer_states")) return *stated;
  for (const auto& row : kOptimizers) {
    if (name == row.name) return row.states;
  }
  std::vector<std::string> names;
  for (const auto& row : kOptimizers) names.emplace_back(row.name);
  fail(ErrorKind::Usage,
       "[plan.needs] {}: unknown optimizer; got '{}', expected one of {}, or optimizer_states with "
       "the number of f32 values it keeps per parameter.{}",
       config.where("optimizer"), name, join(names, ", "), hint(name, names));
}

std::vector<ParameterGroup> read_parameters(const Config& config) {
  std::vector<ParameterGroup> groups;
  for (const auto& item : config.items("parameters")) {
    ParameterGroup group;
    group.name = item.get<std::string>("name", "parameters");
    group.count = item.require<std::int64_t>("count");
    group.trainable = item.get("trainable", true);
    group.bytes = item.get("bytes", 0.0);
    groups.push_back(std::move(group));
  }
  return groups;
}

ActivationNeed read_activations(const Config& config) {
  ActivationNeed need;
  need.saved = config.get("saved", need.saved);
  need.saved_f32 = config.get("saved_f32", need.saved_f32);
  need.loss = config.get("loss", need.loss);
  need.saved_cuda = config.get("saved_cuda", need.saved_cuda);
  need.loss_piece = config.get("loss_piece", need.loss_piece);
  need.transient = config.get("transient", need.transient);
  need.run = config.require<std::int64_t>("run");
  need.kv_cache = config.get("kv_cache", need.kv_cache);
  need.largest = config.get("largest", need.largest);
  return need;
}

std::vector<InputNeed> read_inputs(const Config& config) {
  std::vector<InputNeed> inputs;
  for (const auto& item : config.items("inputs")) {
    InputNeed input;
    input.name = item.get<std::string>("name", "input");
    input.shape = item.require<std::vector<std::int64_t>>("shape");
    input.dtype = read_dtype(item, "dtype", DType::F32);
    for (const auto extent : input.shape) {
      check(extent > 0, ErrorKind::Usage,
            "[plan.needs] {}: a shape holds positive extents; got {}, expected e.g. [3, 240, 320].",
            item.where("shape"), extent);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

int conv_dims(const Config& item) {
  const auto kind = item.require<std::string>("kind");
  const std::vector<std::string> kinds = {"conv1d", "conv2d", "conv3d"};
  const auto found = std::find(kinds.begin(), kinds.end(), kind);
  check(found != kinds.end(), ErrorKind::Usage,
        "[plan.needs] {}: unknown kind of convolution; got '{}', expected {}.{}",
        item.where("kind"), kind, join(kinds, ", "), hint(kind, kinds));
  return static_cast<int>(found - kinds.begin()) + 1;
}

std::vector<ConvNeed> read_convs(const Config& config) {
  std::vector<ConvNeed> convs;
  for (const auto& item : config.items("convs")) {
    ConvNeed conv;
    conv.dims = conv_dims(item);
    conv.in = item.require<std::int64_t>("in");
    conv.out = item.require<std::int64_t>("out");
    conv.kernel = item.get("kernel", conv.kernel);
    conv.length = item.get("length", conv.length);
    const auto dilations = item.get<std::vector<std::int64_t>>("dilations", {1});
    for (const auto dilation : dilations) {  // one entry may describe a whole stack of layers
      conv.dilation = dilation;
      convs.push_back(conv);
    }
  }
  return convs;
}

std::vector<AttentionNeed> read_attention(const Config& config) {
  std::vector<AttentionNeed> all;
  for (const auto& item : config.items("attention")) {
    AttentionNeed attention;
    attention.layers = item.get("layers", attention.layers);
    attention.heads = item.require<std::int64_t>("heads");
    attention.kv_heads = item.get("kv_heads", attention.heads);
    attention.head_dim = item.require<std::int64_t>("head_dim");
    attention.queries = item.require<std::int64_t>("queries");
    attention.keys = item.get("keys", attention.queries);
    attention.window = item.get("window", attention.window);
    attention.causal = item.get("causal", attention.causal);
    attention.mask = item.get("mask", attention.mask);
    attention.dropout = item.get("dropout", attention.dropout);
    all.push_back(attention);
  }
  return all;
}

std::vector<probe::Case> read_probes(const Config& config) {
  std::vector<probe::Case> cases;
  for (const auto& item : config.items("probes")) {
    probe::Case probe;
    probe.op = item.require<std::string>("op");
    probe.shape = item.require<std::vector<std::int64_t>>("shape");
    probe.out_channels = item.get("out_channels", probe.out_channels);
    probe.kernel = item.get("kernel", probe.kernel);
    probe.dilation = item.get("dilation", probe.dilation);
    probe.heads = item.get("heads", probe.heads);
    probe.kv_heads = item.get("kv_heads", probe.kv_heads);
    probe.head_dim = item.get("head_dim", probe.head_dim);
    probe.causal = item.get("causal", probe.causal);
    probe.window = item.get("window", probe.window);
    probe.frozen_input = item.get("frozen_input", probe.frozen_input);
    probe.gradient = item.get("gradient", probe.gradient);
    probe.timed = item.get("timed", probe.timed);
    cases.push_back(std::move(probe));
  }
  return cases;
}

void read_tolerance(const Config& config, Needs& needs) {
  for (const auto& name : config.get<std::vector<std::string>>("tolerates", {})) {
    const auto dtype = parse_dtype(name);
    check(dtype == DType::F16 || dtype == DType::BF16, ErrorKind::Usage,
          "[plan.needs] {}: tolerates lists half-precision dtypes; got '{}', expected f16 or bf16.",
          config.where("tolerates"), name);
    (*dtype == DType::F16 ? needs.tolerates_f16 : needs.tolerates_bf16) = true;
  }
}

void read_batch(const Config& config, Needs& needs) {
  needs.effective_batch = config.get("effective", needs.effective_batch);
  needs.run_batch = config.get("run", needs.run_batch);
  needs.busy_batch = config.get("busy", needs.busy_batch);
  needs.max_batch = config.get("max", needs.max_batch);
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& row : kOptimizers) {
    if (row.implemented) names.emplace_back(row.name);
  }
  return names;
}

Needs read_needs(const Config& config) {
  Needs needs;
  needs.name = config.require<std::string>("name");
  needs.family = config.get<std::string>("family", "");
  needs.parameters = read_parameters(config);
  needs.activations = read_activations(config.section("activations"));
  const auto flops = config.section("flops");
  needs.flops_run = flops.get("run", 0.0);
  needs.flops_train = flops.get("train", 0.0);
  needs.inputs = read_inputs(config);
  needs.convs = read_convs(config);
  needs.attention = read_attention(config);
  needs.ops = read_ops(config);
  needs.probes = read_probes(config);
  read_tolerance(config, needs);
  needs.dropout = config.get("dropout", needs.dropout);
  needs.fixed_shapes = config.get("fixed_shapes", needs.fixed_shapes);
  needs.shapes_repeat = config.get("shapes_repeat", needs.shapes_repeat);
  needs.graph_capturable = config.get("graph_capturable", needs.graph_capturable);
  needs.train_capturable = config.get("train_capturable", needs.train_capturable);
  needs.optimizer = config.get("optimizer", needs.optimizer);
  needs.optimizer_states = optimizer_states(config, needs.optimizer);
  needs.weight_averages = config.get("weight_averages", needs.weight_averages);
  read_batch(config.section("batch"), needs);
  const auto checkpointing = config.section("checkpointing");
  needs.checkpointing.supported = checkpointing.get("supported", false);
  needs.checkpointing.kept = checkpointing.get("kept", 1.0);
  needs.checkpointing.extra = checkpointing.get("extra", 0.0);
  needs.pad_width = config.get<std::int64_t>("pad_width", 0);
  needs.workspace_cuda = config.get_bytes("workspace_cuda", 0);
  check_needs(needs);
  return needs;
}

Needs read_needs_file(const std::string& path) {
  auto config = Config::from_file(path);
  config.set_environment({});  // the needs of a model do not depend on the environment
  auto needs = read_needs(config);
  config.finish();
  return needs;
}

}  // namespace ubique::plan
