// SPDX-License-Identifier: Apache-2.0
// The steps of embedding, blocks and head, and a sample that an export is checked with.
#include "ubique/models/codelm/files/decoder_graph.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/numbers/random.h"
#include "ubique/engine/checkpoint/state_dict.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/models/codelm/net/layout.h"

namespace ubique::codelm {
namespace {

constexpr const char *kIds = "input_ids", *kMask = "attention_mask", *kPositions = "position_ids";

/// Appends the steps of a network; each method gives the name of its last step.
class DecoderGraph {
 public:
  DecoderGraph(const CodelmConfig& config, const engine::NamedTensors& weights)
      : config_(config), names_(tensor_names(config)), weights_(weights) {}

  engine::Graph run() {
    graph_.name = config_.name();
    graph_.notes = {{"codelm_config", json_text(config_json(config_))}};
    add_inputs();
    auto x = add(names_.tokens, engine::GraphGather{tensor(names_.tokens + ".weight")}, {kIds});
    if (config_.learned_positions) {
      const auto place =
          add(names_.positions, engine::GraphGather{tensor(names_.positions + ".weight")},
              {kPositions});
      x = add("embedded", engine::GraphAdd{}, {x, place});
    }
    add_angles();
    add_masks();
    for (std::int64_t layer = 0; layer < config_.layers; ++layer) x = block(layer, x);
    const auto logits = head(norm(names_.final_norm, x));
    graph_.outputs.insert(graph_.outputs.begin(),
                          {"logits", logits, {"batch", "new", config_.vocabulary}});
    return std::move(graph_);
  }

 private:
  std::string add(const std::string& name, engine::GraphOp op, std::vector<std::string> inputs) {
    graph_.steps.push_back({name, std::move(op), std::move(inputs)});
    return name;
  }

  at::Tensor find(const std::string& name) const {
    const auto found = engine::find_tensor(weights_, name);
    return found.defined() ? found.to(at::kCPU, at::kFloat).contiguous() : found;
  }

  io::HostTensor tensor(const std::string& name) const {
    const auto value = find(name);
    check(value.defined(), ErrorKind::Internal, "[codelm.graph] no tensor '{}'.", name);
    return engine::host_tensor_of(name, value);
  }

  std::optional<io::HostTensor> bias(const std::string& name) const {
    const auto value = find(name + ".bias");
    if (!value.defined()) return std::nullopt;
    return engine::host_tensor_of(name + ".bias", value);
  }

  void add_inputs() {
    using Shape = std::vector<engine::GraphExtent>;
    graph_.inputs = {{kIds, DType::I64, Shape{"batch", "new"}},
                     {kMask, DType::I64, Shape{"batch", "total"}},
                     {kPositions, DType::I64, Shape{"batch", "new"}}};
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      for (const auto* part : {"key", "value"}) {
        const Shape shape = {"batch", config_.kv_heads, "past", config_.head_size};
        graph_.inputs.push_back({fmt::format("past_key_values.{}.{}", i, part), DType::F32, shape});
      }
    }
  }

  void add_angles() {
    if (config_.rotary_size == 0) return;
    const auto frequencies = engine::host_tensor_of(
        "frequencies",
        nn::rope_frequencies(config_.rotary_size, config_.rope_theta, config_.rope_scaling));
    const auto factor = config_.rope_scaling.attention_factor;
    add("cosines", engine::GraphAngles{frequencies, false, factor}, {kPositions});
    add("sines", engine::GraphAngles{frequencies, true, factor}, {kPositions});
  }

  void add_masks() {
    add("mask", engine::GraphCausalMask{0}, {kIds, kMask});
    if (config_.window > 0) {
      add("window_mask", engine::GraphCausalMask{config_.window}, {kIds, kMask});
    }
  }

  std::string norm(const std::string& name, const std::string& x) {
    if (config_.norm == NormKind::Rms) {
      return add(name, engine::GraphRmsNorm{tensor(name + ".weight"), config_.norm_eps}, {x});
    }
    return add(
        name,
        engine::GraphLayerNorm{tensor(name + ".weight"), tensor(name + ".bias"), config_.norm_eps},
        {x});
  }

  std::string linear(const std::string& name, const std::string& x) {
    return add(name, engine::GraphLinear{tensor(name + ".weight"), bias(name)}, {x});
  }

  std::string head(const std::string& x) {
    if (!config_.tied) return linear(names_.head, x);
    return add("lm_head", engine::GraphTiedLinear{names_.tokens, std::nullopt}, {x});
  }

  /// Rows of the fused projection that make queries (0), keys (1) or values (2): of all heads one
  /// after the other, or head by head if each has its own key.
  at::Tensor fused_part(const at::Tensor& rows, int part) const {
    const auto size = config_.head_size;
    if (config_.kv_heads == 1) {
      return rows.split_with_sizes({config_.heads * size, size, size},
                                   0)[static_cast<size_t>(part)];
    }
    return rows.unflatten(0, {config_.heads, 3, size}).select(1, part).flatten(0, 1).contiguous();
  }

  std::string fused_linear(const std::string& name, int part, const std::string& x) {
    const auto own = name + std::string(".") + "qkv"[part];
    engine::GraphLinear op{engine::host_tensor_of(own, fused_part(find(name + ".weight"), part)),
                           std::nullopt};
    const auto values = find(name + ".bias");
    if (values.defined()) op.bias = engine::host_tensor_of(own, fused_part(values, part));
    return add(own, std::move(op), {x});
  }

  /// Queries, keys or values of a layer: (B, heads, n, size), normed and rotated.
  std::string project(std::int64_t layer, int part, const std::string& x) {
    const auto named = [&](const std::string& name) { return layer_name(names_, layer, name); };
    const std::string separate[] = {names_.q, names_.k, names_.v};
    const std::string norms[] = {names_.q_norm, names_.k_norm, ""};
    auto made = config_.fused_qkv ? fused_linear(named(names_.qkv), part, x)
                                  : linear(named(separate[part]), x);
    const auto count = part == 0 ? config_.heads : config_.kv_heads;
    made = add(made + ".heads", engine::GraphHeads{count}, {made});
    if (!norms[part].empty()) {
      const auto name = named(norms[part]);
      made = add(name, engine::GraphRmsNorm{tensor(name + ".weight"), config_.norm_eps}, {made});
    }
    if (part == 2 || config_.rotary_size == 0) return made;
    return add(made + ".rotated", engine::GraphRotate{config_.rotary_size, config_.head_size},
               {made, "cosines", "sines"});
  }

  /// The KV cache with what is new behind it, which also comes out.
  std::string append(std::int64_t layer, const char* part, const std::string& made) {
    const auto step = add(fmt::format("cache.{}.{}", layer, part), engine::GraphAppend{},
                          {fmt::format("past_key_values.{}.{}", layer, part), made});
    graph_.outputs.push_back({fmt::format("present.{}.{}", layer, part),
                              step,
                              {"batch", config_.kv_heads, "total", config_.head_size}});
    return step;
  }

  std::string attend(std::int64_t layer, const std::string& x) {
    const auto queries = project(layer, 0, x);
    const auto keys = append(layer, "key", project(layer, 1, x));
    const auto values = append(layer, "value", project(layer, 2, x));
    const auto* mask = config_.window_of(layer) > 0 ? "window_mask" : "mask";
    const auto mixed =
        add(fmt::format("attention.{}", layer),
            engine::GraphAttention{config_.heads, config_.kv_heads, config_.head_size},
            {queries, keys, values, mask});
    return linear(layer_name(names_, layer, names_.output), mixed);
  }

  std::string activate(const std::string& name, const std::string& x) {
    if (config_.activation == nn::Activation::Silu) return add(name, engine::GraphSilu{}, {x});
    const auto kind = config_.activation == nn::Activation::Gelu ? kernels::Activation::Gelu
                                                                 : kernels::Activation::GeluTanh;
    return add(name, engine::GraphActivation{kind}, {x});
  }

  std::string feed_forward(std::int64_t layer, const std::string& x) {
    const auto named = [&](const std::string& name) { return layer_name(names_, layer, name); };
    const auto curve = fmt::format("activation.{}", layer);
    const auto up = linear(named(names_.up), x);
    if (!config_.gated) return linear(named(names_.down), activate(curve, up));
    const auto gate = activate(curve, linear(named(names_.gate), x));
    const auto product = add(fmt::format("gated.{}", layer), engine::GraphMultiply{}, {gate, up});
    return linear(named(names_.down), product);
  }

  std::string block(std::int64_t layer, const std::string& x) {
    const auto normed = norm(layer_name(names_, layer, names_.first_norm), x);
    const auto attended =
        add(fmt::format("attended.{}", layer), engine::GraphAdd{}, {x, attend(layer, normed)});
    const auto read =
        config_.parallel ? normed : norm(layer_name(names_, layer, names_.second_norm), attended);
    return add(fmt::format("block.{}", layer), engine::GraphAdd{},
               {attended, feed_forward(layer, read)});
  }

  const CodelmConfig& config_;
  TensorNames names_;
  const engine::NamedTensors& weights_;
  engine::Graph graph_;
};

/// Two rows of tokens, the first half of which is in the caches. Longer than a short window.
void add_sample(CodelmModel& model, engine::GraphExport& exported) {
  constexpr std::int64_t kBatch = 2, kUsual = 12, kLargestWindow = 64;
  const auto& config = model.settings();
  const auto wanted = config.window <= kLargestWindow ? kUsual + config.window : kUsual;
  const auto total = std::min(config.context, wanted), past = total / 2, fresh = total - past;
  const auto i64 = at::TensorOptions(at::kLong);
  const auto ids =
      ((at::arange(kBatch * total, i64) * 7919 + 3) % config.vocabulary).reshape({kBatch, total});
  auto& network = model.codelm();
  const auto options = network.head().options().device(at::kCPU).dtype(at::kFloat);
  std::vector<nn::KvCache> caches;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    caches.push_back(nn::KvCache::make(kBatch, config.kv_heads, total, config.head_size, options));
  }
  const auto pass = [&](std::int64_t first, std::int64_t end) {
    const nn::NewPositions places{
        .positions = at::arange(first, end, i64).expand({kBatch, end - first}), .extent = end};
    return network.forward_cached(ids.slice(1, first, end), places, caches, {});
  };
  if (past > 0) pass(0, past);
  const auto input = [&](const char* name, const at::Tensor& value) {
    exported.inputs.push_back(engine::host_tensor_of(name, value));
  };
  input(kIds, ids.slice(1, past));
  input(kMask, at::ones({kBatch, total}, i64));
  input(kPositions, at::arange(past, total, i64).expand({kBatch, fresh}));
  const auto each_cache = [&](const char* prefix, std::int64_t end, auto& list) {
    for (std::size_t i = 0; i < caches.size(); ++i) {
      list.push_back(engine::host_tensor_of(fmt::format("{}.{}.key", prefix, i),
                                            caches[i].keys.slice(2, 0, end)));
      list.push_back(engine::host_tensor_of(fmt::format("{}.{}.value", prefix, i),
                                            caches[i].values.slice(2, 0, end)));
    }
  };
  each_cache("past_key_values", past, exported.inputs);
  const auto hidden = pass(past, total);
  exported.outputs.push_back(engine::host_tensor_of("logits", network.logits(hidden)));
  each_cache("present", total, exported.outputs);
}

}  // namespace

engine::GraphExport decoder_graph_export(CodelmModel& model) {
  const at::NoGradGuard no_gradients;
  check(!model.codelm().is_quantized(), ErrorKind::Usage,
        "[codelm.graph] weights in 4 or 8 bits cannot be exported; expected the base as it is: "
        "train without --base-weights, or convert to a Hugging Face folder first.");
  model.merge_adapters();
  model.codelm().to(at::kFloat);
  model.codelm().refresh();
  engine::GraphExport exported;
  exported.graph = DecoderGraph(model.settings(), engine::state_dict(model.codelm())).run();
  add_sample(model, exported);
  return exported;
}

}  // namespace ubique::codelm
