// SPDX-License-Identifier: Apache-2.0
// The ONNX nodes of the operators of language models.
#include <cmath>
#include <limits>

#include "ubique/base/error.h"
#include "ubique/engine/checkpoint/tensor_bytes.h"
#include "ubique/export/onnx_lowering.h"

namespace ubique::exporting {
namespace {

constexpr std::int64_t kOnnxBool = 9;
/// Stands for "not seen". Not -infinity: a row of padding sees nothing, and would become NaN.
constexpr float kNotSeen = -1e30F, kNotSeenHalf = -60000;

std::map<std::string, io::OnnxAttribute> axis_of(std::int64_t axis) { return {{"axis", axis}}; }

/// MatMul takes (I, O).
io::HostTensor transposed(const io::HostTensor& weight) {
  return engine::host_tensor_of(weight.name, engine::torch_tensor(weight).t().contiguous());
}

}  // namespace

void OnnxLowering::lower(const engine::GraphGather& gather) {
  add("Gather", {constant(gather.table, own("weight")), input_}, step_->name, axis_of(0));
}

void OnnxLowering::multiply(const std::string& matrix, const std::optional<io::HostTensor>& bias) {
  if (!bias) {
    add("MatMul", {input_, matrix}, step_->name);
    return;
  }
  const auto product = add("MatMul", {input_, matrix}, own("product"));
  add("Add", {product, constant(*bias, own("bias"))}, step_->name);
}

void OnnxLowering::lower(const engine::GraphLinear& linear) {
  if (options_.dtype == DType::I8) {
    const auto rows = quantised(linear.weight, own("weight"));
    multiply(add("Transpose", {rows}, own("columns"), {{"perm", std::vector<std::int64_t>{1, 0}}}),
             linear.bias);
  } else {
    multiply(constant(transposed(linear.weight), own("weight")), linear.bias);
  }
}

void OnnxLowering::lower(const engine::GraphTiedLinear& linear) {
  const auto table = linear.gather + ".weight";
  multiply(add("Transpose", {table}, own("columns"), {{"perm", std::vector<std::int64_t>{1, 0}}}),
           linear.bias);
}

void OnnxLowering::lower(const engine::GraphLayerNorm& norm) {
  add("LayerNormalization",
      {input_, constant(norm.weight, own("weight")), constant(norm.bias, own("bias"))}, step_->name,
      {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(norm.epsilon)}});
}

void OnnxLowering::lower(const engine::GraphRmsNorm& norm) {
  const auto square = add("Mul", {input_, input_}, own("square"));
  const auto mean = add("ReduceMean", {square}, own("mean"),
                        {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
  const auto epsilon = number(static_cast<float>(norm.epsilon), own("epsilon"));
  const auto root = add("Sqrt", {add("Add", {mean, epsilon}, own("safe"))}, own("root"));
  const auto scaled = add("Div", {input_, root}, own("scaled"));
  add("Mul", {scaled, constant(norm.weight, own("weight"))}, step_->name);
}

void OnnxLowering::lower(const engine::GraphSilu&) {
  add("Mul", {input_, add("Sigmoid", {input_}, own("sigmoid"))}, step_->name);
}

void OnnxLowering::lower(const engine::GraphAdd&) { add("Add", inputs_, step_->name); }
void OnnxLowering::lower(const engine::GraphMultiply&) { add("Mul", inputs_, step_->name); }

void OnnxLowering::lower(const engine::GraphHeads& heads) {
  const auto shape = integers({0, 0, heads.count, -1}, own("shape"));
  const auto split = add("Reshape", {input_, shape}, own("split"));  // (B, n, count, size)
  add("Transpose", {split}, step_->name, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
}

void OnnxLowering::lower(const engine::GraphAngles& angles) {
  const auto real = cast(input_, own("positions"), false);
  const auto column = add("Unsqueeze", {real, integers({1, 3}, own("axes"))}, own("column"));
  const auto turns =
      add("Mul", {column, constant(angles.frequencies, own("frequencies"))}, own("turns"));
  const auto both = add("Concat", {turns, turns}, own("angles"), axis_of(-1));  // (B, 1, n, r)
  const auto* kind = angles.sines ? "Sin" : "Cos";
  if (angles.factor == 1) {
    add(kind, {both}, step_->name);
  } else {
    const auto factor = number(static_cast<float>(angles.factor), own("factor"));
    add("Mul", {add(kind, {both}, own("unit")), factor}, step_->name);
  }
}

std::string OnnxLowering::last_axis_part(const std::string& value, std::int64_t from,
                                         std::int64_t to, const char* part) {
  const auto name = own(part);
  return add("Slice",
             {value, integers({from}, name + ".from"), integers({to}, name + ".to"),
              integers({-1}, name + ".axis")},
             name);
}

void OnnxLowering::lower(const engine::GraphRotate& rotate) {
  const bool whole = rotate.rotated == rotate.size;
  const auto half = rotate.rotated / 2;
  const auto turned = whole ? input_ : last_axis_part(input_, 0, rotate.rotated, "turned");
  const auto first = last_axis_part(input_, 0, half, "first");
  const auto second = last_axis_part(input_, half, rotate.rotated, "second");
  const auto swapped =
      add("Concat", {add("Neg", {second}, own("negated")), first}, own("swapped"), axis_of(-1));
  const auto sum = whole ? step_->name : own("rotated");
  add("Add",
      {add("Mul", {turned, inputs_.at(1)}, own("by_cosines")),
       add("Mul", {swapped, inputs_.at(2)}, own("by_sines"))},
      sum);
  if (whole) return;
  const auto rest = last_axis_part(input_, rotate.rotated, rotate.size, "rest");
  add("Concat", {sum, rest}, step_->name, axis_of(-1));
}

void OnnxLowering::lower(const engine::GraphAppend&) {
  add("Concat", inputs_, step_->name, axis_of(2));
}

/// Query i of n has position T - n + i.
void OnnxLowering::lower(const engine::GraphCausalMask& mask) {
  const auto length = [&](const std::string& value, const char* part) {
    const auto shape = add("Shape", {value}, own(part));
    return add("Gather", {shape, integer(1, shape + ".axis")}, shape + ".size", axis_of(0));
  };
  const auto count = length(input_, "ids"), total = length(inputs_.at(1), "mask");
  const auto first = add("Sub", {total, count}, own("first"));
  const auto one = integer(1, own("one"));
  const auto columns = add("Range", {integer(0, own("zero")), total, one}, own("columns"));  // (T)
  const auto range = add("Range", {first, total, one}, own("range"));
  const auto rows = add("Unsqueeze", {range, integers({1}, own("rows.axis"))}, own("rows"));
  auto seen = add("LessOrEqual", {columns, rows}, own("before"));  // (n, T)
  if (mask.window > 0) {
    const auto start = add("Sub", {rows, integer(mask.window, own("window"))}, own("start"));
    const auto near = add("Greater", {columns, start}, own("near"));
    seen = add("And", {seen, near}, own("seen"));
  }
  const auto real = add("Cast", {inputs_.at(1)}, own("real"), {{"to", kOnnxBool}});
  const auto wide = add("Unsqueeze", {real, integers({1, 2, 3}, own("axes"))}, own("wide"));
  add("And", {seen, wide}, step_->name);
}

/// Heads that share a key head are an axis of their own, along which keys and values broadcast.
void OnnxLowering::lower(const engine::GraphAttention& op) {
  const auto group = op.heads / op.kv_heads;
  const auto scale =
      number(static_cast<float>(1 / std::sqrt(static_cast<double>(op.size))), own("scale"));
  const auto axis = integers({2}, own("axis"));
  const auto grouped = integers({0, op.kv_heads, group, -1, op.size}, own("groups"));
  const auto queries = add("Reshape", {add("Mul", {input_, scale}, own("scaled")), grouped},
                           own("queries"));  // (B, kv, group, n, size)
  const auto keys = add("Unsqueeze", {inputs_.at(1), axis}, own("keys"));
  const auto values = add("Unsqueeze", {inputs_.at(2), axis}, own("values"));
  const auto columns = add("Transpose", {keys}, own("columns"),
                           {{"perm", std::vector<std::int64_t>{0, 1, 2, 4, 3}}});
  const auto scores = add("MatMul", {queries, columns}, own("scores"));  // (B, kv, group, n, T)
  const auto low = number(in_half_ ? kNotSeenHalf : kNotSeen, own("not_seen"));
  auto shares = add("Where", {inputs_.at(3), scores, low}, own("masked"));
  if (in_half_) shares = cast(shares, own("masked.whole"), false);
  shares = add("Softmax", {shares}, own("shares"), axis_of(-1));
  if (in_half_) shares = cast(shares, own("shares.half"), true);
  const auto mixed = add("MatMul", {shares, values}, own("mixed"));  // (B, kv, group, n, size)
  const auto heads =
      add("Reshape", {mixed, integers({0, op.heads, -1, op.size}, own("heads"))}, own("by_head"));
  const auto rows =
      add("Transpose", {heads}, own("by_row"), {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  add("Reshape", {rows, integers({0, 0, op.heads * op.size}, own("width"))}, step_->name);
}

}  // namespace ubique::exporting
