// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention with every method that the planner may choose. Beside the numbers,
// causality is tested directly: changing later tokens must not change earlier outputs.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

/// A method to compute attention; the planner ranks the op names.
enum class AttentionMethod { FusedCausal, FusedFull, ExplicitMask, Math, Grouped, Window };

const char* op_of(AttentionMethod method) {
  switch (method) {
    case AttentionMethod::FusedCausal:
      return "attention.fused_causal";
    case AttentionMethod::FusedFull:
      return "attention.fused_full";
    case AttentionMethod::ExplicitMask:
      return "attention.explicit_mask";
    case AttentionMethod::Math:
      return "attention.math";
    case AttentionMethod::Grouped:
      return "attention.gqa";
    case AttentionMethod::Window:
      break;
  }
  return "attention.window";
}

/// The causal mask: true for keys not later than the query and at most `window` back (0 = all).
at::Tensor visible(std::int64_t length, std::int64_t window, c10::Device device) {
  auto mask = at::ones({length, length}, at::kBool).tril();
  if (window > 0) mask = mask.triu(1 - window);
  return mask.to(device);  // (T, T)
}

at::Tensor attend(AttentionMethod method, const Case& request, const Tensors& in) {
  // Models split heads with a view, so the operands are (B, T, H, D) and attention gets strided
  // tensors.
  const auto query = in[0].transpose(1, 2), key = in[1].transpose(1, 2);  // (B, H, T, D)
  const auto value = in[2].transpose(1, 2);
  std::optional<at::Tensor> mask;
  switch (method) {
    case AttentionMethod::ExplicitMask:
    case AttentionMethod::Window:
      mask = visible(query.size(2), request.window, query.device());
      return at::scaled_dot_product_attention(query, key, value, mask);
    case AttentionMethod::Math:
      return std::get<0>(
          at::_scaled_dot_product_attention_math(query, key, value, mask, 0.0, request.causal));
    default:
      break;
  }
  const bool grouped = method == AttentionMethod::Grouped;
  return at::scaled_dot_product_attention(query, key, value, mask, 0.0, request.causal, {},
                                          grouped);
}

/// The tensor with every token from `first` on replaced by something else and larger.
at::Tensor with_other_future(const at::Tensor& tokens, std::int64_t first) {
  const auto past = tokens.narrow(1, 0, first);
  const auto future = tokens.narrow(1, first, tokens.size(1) - first);
  return at::cat({past, future * -3 + 1}, 1);  // (B, T, H, D)
}

Finding check_causality(AttentionMethod method, const Case& request, const Tensors& in,
                        const at::Tensor& output, double tolerance) {
  const auto length = in[0].size(1);
  for (const auto first : {length - 1, length / 2, std::int64_t{1}}) {
    if (first < 1) continue;
    const Tensors changed = {with_other_future(in[0], first), with_other_future(in[1], first),
                             with_other_future(in[2], first)};
    const auto past = attend(method, request, changed).narrow(2, 0, first);
    const auto leak = compare(past, output.narrow(2, 0, first));
    if (leak.error <= tolerance) continue;
    return judge(leak.error, tolerance,
                 fmt::format("changing tokens from {} on changed earlier outputs: {}", first,
                             leak.to_text()));
  }
  return {};
}

Operation attention_operation(AttentionMethod method, const Case& request) {
  const auto batch = request.shape[0], queries = request.shape[1], keys = request.shape.back();
  const auto groups = request.kv_heads > 0 ? request.kv_heads : request.heads;
  const auto sum = static_cast<double>(keys + request.head_dim);
  const auto back = static_cast<double>((queries + keys) * (request.heads / groups));
  // Scores, weights and result are each stored in the dtype by some backends, and so are the
  // gradients of scores and weights. Where a query sees few keys, the gradient of its scores is a
  // small difference of large numbers.
  const double stored = groups == request.heads ? 6 : 8;  // shared heads are summed up once more
  const RoundingPath gradient_path{back + static_cast<double>(request.head_dim), stored, 4};
  const std::vector<std::int64_t> kv_shape{batch, keys, groups, request.head_dim};
  Operation operation;
  operation.operands = {{.name = "query",
                         .shape = {batch, queries, request.heads, request.head_dim},
                         .gradient_path = gradient_path},
                        {.name = "key", .shape = kv_shape, .gradient_path = gradient_path},
                        {.name = "value", .shape = kv_shape, .gradient_path = gradient_path}};
  operation.forward = [method, request](const Tensors& in) {
    return Tensors{attend(method, request, in)};
  };
  operation.path = {sum, 3};
  operation.timed = request.timed;
  if (request.causal) {
    operation.invariant = [method, request](const Tensors& in, const at::Tensor& output,
                                            double limit) {
      return check_causality(method, request, in, output, limit);
    };
  }
  return operation;
}

std::vector<AttentionMethod> methods_for(const Case& request) {
  if (request.window > 0) return {AttentionMethod::Window};
  if (request.kv_heads > 0 && request.kv_heads != request.heads) return {AttentionMethod::Grouped};
  if (!request.causal) return {AttentionMethod::FusedFull, AttentionMethod::Math};
  return {AttentionMethod::FusedCausal, AttentionMethod::ExplicitMask, AttentionMethod::Math};
}

std::string attention_tag(const Case& request) {
  std::string tag = fmt::format("t{}", request.shape[1]);
  if (request.shape.back() != request.shape[1] && request.shape.size() == 3)
    tag = fmt::format("q{}k{}", request.shape[1], request.shape[2]);
  if (request.shape[0] != 1) tag += fmt::format("b{}", request.shape[0]);
  tag += fmt::format("h{}", request.heads);
  if (request.kv_heads > 0 && request.kv_heads != request.heads)
    tag += fmt::format("-{}", request.kv_heads);
  tag += fmt::format("d{}", request.head_dim);
  if (request.window > 0) tag += fmt::format("w{}", request.window);
  return request.causal ? tag + "c" : tag;
}

Case attention_case(std::vector<std::int64_t> shape, std::int64_t heads, std::int64_t kv_heads,
                    std::int64_t head_dim, bool causal, std::int64_t window = 0) {
  return {.op = "attention",
          .shape = std::move(shape),
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .causal = causal,
          .window = window,
          .dtypes = kProbedDtypes};
}

}  // namespace

std::vector<Case> attention_cases() {
  std::vector<Case> cases;
  for (const bool causal : {true, false}) {
    // Lengths around a block of 32, within one, and long: kernels differ there.
    for (const std::int64_t length : {31, 32, 33, 70}) {
      cases.push_back(attention_case({1, length}, 2, 0, 64, causal));
    }
    cases.push_back(attention_case({1, 1024}, 1, 0, 64, causal));
    cases.push_back(attention_case({2, 70}, 3, 0, 16, causal));
    cases.push_back(attention_case({1, 33}, 2, 0, 128, causal));
    cases.push_back(attention_case({1, 256}, 4, 0, 64, causal));
    cases.back().timed = true;
  }
  for (const std::int64_t keys : {33, 1024}) {  // one query against a KV cache
    cases.push_back(attention_case({1, 1, keys}, 2, 0, 64, false));
  }
  cases.push_back(attention_case({1, 33}, 4, 2, 64, true));
  cases.push_back(attention_case({1, 70}, 4, 1, 64, true));  // multi-query: one KV head
  cases.push_back(attention_case({1, 1024}, 2, 1, 64, true));
  cases.push_back(attention_case({1, 70}, 4, 2, 32, false));
  cases.push_back(attention_case({1, 70}, 2, 0, 64, true, 16));
  cases.push_back(attention_case({1, 256}, 1, 0, 64, true, 64));
  return cases;
}

std::vector<Probe> expand_attention(const Case& request) {
  std::vector<Probe> probes;
  for (const auto method : methods_for(request)) {
    auto made =
        make_probes({op_of(method), attention_tag(request), attention_operation(method, request),
                     request.dtypes, request.layouts, request.gradient});
    probes.insert(probes.end(), made.begin(), made.end());
  }
  return probes;
}

}  // namespace ubique::probe
