// SPDX-License-Identifier: Apache-2.0
// The many small ops between the heavy ones: activations, reductions, indexing, losses, pooling.
// One row each, in the dtypes that models use them in. A row's name is the LibTorch op that it is
// about; tests/probe/mutations compares the rows with what the families call.
#include <ATen/ATen.h>

#include "ubique/probe/probes/groups.h"
#include "ubique/probe/probes/operation.h"

namespace ubique::probe {
namespace {

enum class Row { EveryDtype, F32, F32Forward };

struct ElementaryOp {
  const char* name;
  Row row;
  std::vector<Operand> operands;
  std::function<Tensors(const Tensors&)> forward;
};

// 1e-5 in f32: fast versions of transcendental functions lose a few of its last digits.
constexpr RoundingPath kElementaryPath{16, 2, 4}, kElementaryGradient{64, 4, 4};

Operand values(std::vector<std::int64_t> shape) {
  return {.name = "input", .shape = std::move(shape), .gradient_path = kElementaryGradient};
}

/// Away from zero, for logarithms, roots and quotients.
Operand positive(std::vector<std::int64_t> shape) {
  auto operand = values(std::move(shape));
  operand.mean = 3;
  operand.deviation = 0.3;
  return operand;
}

Operand constant(std::vector<std::int64_t> shape) {
  auto operand = values(std::move(shape));
  operand.wants_gradient = false;
  return operand;
}

const std::vector<std::int64_t> kShape = {3, 5, 33};

template <at::Tensor (*Op)(const at::Tensor&)>
Tensors unary(const Tensors& in) {
  return {Op(in[0])};
}

template <at::Tensor (*Op)(const at::Tensor&, const at::Tensor&)>
Tensors binary(const Tensors& in) {
  return {Op(in[0], in[1])};
}

/// A logical op on the signs of two tensors.
template <at::Tensor (*Op)(const at::Tensor&, const at::Tensor&)>
Tensors of_signs(const Tensors& in) {
  return {Op(in[0].gt(0), in[1].gt(0))};
}

/// `count` indices below `bound`; all different if they are as many (and 7 does not divide it).
at::Tensor spread_indices(std::int64_t count, std::int64_t bound, const at::Tensor& like) {
  return at::arange(count, at::kLong).mul(7).add(3).remainder(bound).to(like.device());
}

/// The input, nearly, with neighbours that differ even in half precision: nothing is a tie.
at::Tensor without_ties(const at::Tensor& input) {
  const auto steps = at::arange(input.numel(), at::kFloat).mul(37).add(11).remainder(251);
  return input * 0.01 + steps.view(input.sizes()).to(input.options());
}

// clang-format off
std::vector<ElementaryOp> pointwise_ops() {
  return {
    {"relu",    Row::EveryDtype, {values(kShape)}, unary<at::relu>},
    {"relu_",   Row::EveryDtype, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].clone().relu_()}; }},
    {"elu",     Row::EveryDtype, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::elu(in[0])}; }},
    {"gelu",    Row::EveryDtype, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::gelu(in[0])}; }},
    {"gelu_tanh", Row::EveryDtype, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::gelu(in[0], "tanh")}; }},
    {"silu",    Row::EveryDtype, {values(kShape)}, unary<at::silu>},
    {"sigmoid", Row::EveryDtype, {values(kShape)}, unary<at::sigmoid>},
    {"tanh",    Row::EveryDtype, {values(kShape)}, unary<at::tanh>},
    {"exp",     Row::EveryDtype, {values(kShape)}, unary<at::exp>},
    {"neg",     Row::EveryDtype, {values(kShape)}, unary<at::neg>},
    {"add",     Row::EveryDtype, {values(kShape), values({33})},
     [](const Tensors& in) { return Tensors{at::add(in[0], in[1], 0.5)}; }},
    {"sub",     Row::EveryDtype, {values(kShape), values({33})},
     [](const Tensors& in) { return Tensors{at::sub(in[0], in[1], 0.5)}; }},
    {"mul",     Row::EveryDtype, {values(kShape), values({33})}, binary<at::mul>},
    {"div",     Row::EveryDtype, {values(kShape), positive({33})}, binary<at::div>},
    {"where",   Row::EveryDtype, {values(kShape), values(kShape)},
     [](const Tensors& in) { return Tensors{at::where(in[0].gt(0), in[0] * 2, in[1])}; }},
    {"masked_fill_", Row::EveryDtype, {values(kShape), constant(kShape)},
     [](const Tensors& in) { return Tensors{in[0].clone().masked_fill_(in[1].gt(0), -1)}; }},
    {"clamp_min", Row::F32, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::clamp_min(in[0], -0.5)}; }},
    {"clamp_max", Row::F32, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::clamp_max(in[0], 0.5)}; }},
    {"abs",     Row::F32, {values(kShape)}, unary<at::abs>},
    {"log",     Row::F32, {positive(kShape)}, unary<at::log>},
    {"log1p",   Row::F32, {positive(kShape)}, unary<at::log1p>},
    {"expm1",   Row::F32, {values(kShape)}, unary<at::expm1>},
    {"sqrt",    Row::F32, {positive(kShape)}, unary<at::sqrt>},
    {"rsqrt",   Row::F32, {positive(kShape)}, unary<at::rsqrt>},
    {"reciprocal", Row::F32, {positive(kShape)}, unary<at::reciprocal>},
    {"pow",     Row::F32, {positive(kShape)},
     [](const Tensors& in) { return Tensors{in[0].pow(-2), in[0].square()}; }},
    {"sin",     Row::F32, {values(kShape)}, unary<at::sin>},
    {"cos",     Row::F32, {values(kShape)}, unary<at::cos>},
    {"floor",   Row::F32Forward, {values(kShape)}, unary<at::floor>},
    {"sign",    Row::F32Forward, {values(kShape)}, unary<at::sign>},
    {"sgn",     Row::F32Forward, {values(kShape)}, unary<at::sgn>},
    {"atan2",   Row::F32Forward, {values(kShape), values(kShape)}, binary<at::atan2>},
    {"lerp",    Row::F32Forward, {values(kShape), values(kShape)},
     [](const Tensors& in) { return Tensors{at::lerp(in[0], in[1], 0.3)}; }},
    {"gt",      Row::F32Forward, {values(kShape), values(kShape)}, binary<at::gt>},
    {"ge",      Row::F32Forward, {values(kShape), values(kShape)}, binary<at::ge>},
    {"lt",      Row::F32Forward, {values(kShape), values(kShape)}, binary<at::lt>},
    {"eq",      Row::F32Forward, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].gt(0).eq(true)}; }},
    {"ne",      Row::F32Forward, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].gt(0).ne(true)}; }},
    {"logical_and", Row::F32Forward, {values(kShape), values(kShape)}, of_signs<at::logical_and>},
    {"logical_or",  Row::F32Forward, {values(kShape), values(kShape)}, of_signs<at::logical_or>},
    {"logical_not", Row::F32Forward, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].gt(0).logical_not()}; }},
  };
}

std::vector<ElementaryOp> reduction_ops() {
  return {
    {"sum",     Row::EveryDtype, {positive(kShape)},
     [](const Tensors& in) { return Tensors{in[0].sum(-1), in[0].sum(0)}; }},
    {"mean",    Row::EveryDtype, {positive({2, 3, 7, 9})},
     [](const Tensors& in) { return Tensors{in[0].mean({2, 3}, true)}; }},
    {"softmax", Row::EveryDtype, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::softmax(in[0], -1)}; }},
    {"log_softmax", Row::EveryDtype, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::log_softmax(in[0], 1)}; }},
    {"argmax",  Row::EveryDtype, {constant(kShape)},
     [](const Tensors& in) { return Tensors{without_ties(in[0]).argmax(-1)}; }},
    {"max",     Row::EveryDtype, {constant(kShape)},
     [](const Tensors& in) { return Tensors{std::get<1>(without_ties(in[0]).max(-1))}; }},
    {"topk",    Row::EveryDtype, {constant(kShape)},
     [](const Tensors& in) {
       const auto [largest, places] = without_ties(in[0]).topk(7);
       return Tensors{largest, places};
     }},
    {"amax",    Row::F32, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].amax({1, 2})}; }},
    {"amin",    Row::F32, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].amin({1, 2})}; }},
    {"baddbmm", Row::F32, {values({3, 5, 7}), values({3, 5, 9}), values({3, 9, 7})},
     [](const Tensors& in) { return Tensors{at::baddbmm(in[0], in[1], in[2])}; }},
    {"group_norm", Row::F32, {values({2, 8, 7, 9})},
     [](const Tensors& in) { return Tensors{at::group_norm(in[0], 4)}; }},
    {"all",     Row::F32Forward, {values(kShape)},
     [](const Tensors& in) { return Tensors{in[0].gt(-1.8).all(-1)}; }},
    {"dot",     Row::F32Forward, {positive({257}), positive({257})}, binary<at::dot>},
    {"linalg_vector_norm", Row::F32Forward, {values(kShape)},
     [](const Tensors& in) { return Tensors{at::linalg_vector_norm(in[0])}; }},
  };
}

std::vector<ElementaryOp> index_ops() {
  return {
    {"index_select", Row::EveryDtype, {values({17, 33})},
     [](const Tensors& in) {
       return Tensors{in[0].index_select(0, spread_indices(20, 17, in[0]))};
     }},
    {"embedding", Row::EveryDtype, {values({17, 33})},
     [](const Tensors& in) {
       return Tensors{at::embedding(in[0], spread_indices(20, 17, in[0]).view({4, 5}))};
     }},
    {"cat",     Row::EveryDtype, {values({3, 5}), values({3, 7})},
     [](const Tensors& in) { return Tensors{at::cat({in[0], in[1]}, 1)}; }},
    {"replication_pad1d", Row::F32, {values({3, 5, 33})},
     [](const Tensors& in) { return Tensors{at::replication_pad1d(in[0], {3, 2})}; }},
    {"gather",  Row::F32, {values({9, 33})},
     [](const Tensors& in) {
       return Tensors{in[0].gather(1, spread_indices(18, 33, in[0]).view({9, 2}))};
     }},
    {"scatter", Row::F32Forward, {values({9, 33})},
     [](const Tensors& in) {
       return Tensors{in[0].scatter(1, spread_indices(9, 33, in[0]).view({9, 1}), 0.5)};
     }},
    {"scatter_add", Row::F32Forward, {values({9, 33}), values({9, 2})},
     [](const Tensors& in) {
       return Tensors{in[0].scatter_add(1, spread_indices(18, 33, in[0]).view({9, 2}), in[1])};
     }},
    {"index_add", Row::F32Forward, {values({17, 33}), values({20, 33})},
     [](const Tensors& in) {
       return Tensors{in[0].index_add(0, spread_indices(20, 17, in[0]), in[1])};
     }},
    {"index_copy", Row::F32Forward, {values({17, 33}), values({11, 33})},
     [](const Tensors& in) {
       return Tensors{in[0].index_copy(0, spread_indices(11, 17, in[0]), in[1])};
     }},
  };
}

std::vector<ElementaryOp> loss_ops() {
  return {
    {"cross_entropy", Row::F32, {values({20, 11})},
     [](const Tensors& in) {
       return Tensors{at::cross_entropy_loss(in[0], spread_indices(20, 11, in[0]))};
     }},
    {"binary_cross_entropy_with_logits", Row::F32, {values({33}), constant({33})},
     [](const Tensors& in) {
       return Tensors{at::binary_cross_entropy_with_logits(in[0], in[1].gt(0).to(in[0].options()))};
     }},
  };
}

std::vector<ElementaryOp> picture_ops() {
  return {
    {"max_pool2d", Row::EveryDtype, {values({2, 3, 10, 12})},
     [](const Tensors& in) {
       const auto x = without_ties(in[0]);
       const auto padded = at::constant_pad_nd(x, {0, 1, 0, 1});
       return Tensors{at::max_pool2d(x, 2, 2), at::max_pool2d(padded, 2, 1)};
     }},
    {"upsample_nearest2d", Row::F32, {values({2, 3, 7, 9})},
     [](const Tensors& in) { return Tensors{at::upsample_nearest2d(in[0], {14, 18})}; }},
    {"upsample_bilinear2d", Row::EveryDtype, {values({2, 3, 7, 9})},
     [](const Tensors& in) {
       return Tensors{at::upsample_bilinear2d(in[0], {14, 18}, /*align_corners=*/false)};
     }},
  };
}
// clang-format on

std::vector<Probe> probes_of_rows(const char* op, const std::vector<ElementaryOp>& rows,
                                  const std::vector<Layout>& layouts = {Layout::Contiguous}) {
  std::vector<Probe> probes;
  for (const auto& row : rows) {
    OperationProbes what{.op = op, .tag = row.name, .layouts = layouts};
    what.operation.operands = row.operands;
    what.operation.forward = row.forward;
    what.operation.path = kElementaryPath;
    if (row.row != Row::EveryDtype) what.dtypes = {DType::F32};
    what.gradient = row.row != Row::F32Forward && row.operands[0].wants_gradient;
    auto made = make_probes(what);
    probes.insert(probes.end(), made.begin(), made.end());
  }
  return probes;
}

}  // namespace

std::vector<Probe> elementary_probes() {
  std::vector<Probe> probes;
  for (auto& [op, rows] : {std::pair{"elementary.pointwise", pointwise_ops()},
                           {"elementary.reduce", reduction_ops()},
                           {"elementary.index", index_ops()},
                           {"elementary.loss", loss_ops()}}) {
    auto made = probes_of_rows(op, rows);
    probes.insert(probes.end(), made.begin(), made.end());
  }
  return probes;
}

std::vector<Probe> image_probes() { return probes_of_rows("image", picture_ops(), kBothLayouts); }

}  // namespace ubique::probe
