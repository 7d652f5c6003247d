// SPDX-License-Identifier: Apache-2.0
// The optimizer of network and puzzle table, and the sign step of the table.
#include "ubique/models/trm/train/optimizer.h"

#include <ATen/ATen.h>

#include "ubique/engine/checkpoint/state_dict.h"

namespace ubique::trm {
namespace {

class TrmOptimizer final : public engine::Optimizer {
 public:
  TrmOptimizer(TrmModel& model, engine::NamedTensors parameters,
               const engine::OptimizerOptions& options, const TableOptions& table)
      : Optimizer(std::move(parameters)), model_(model), table_(table), full_rate_(options.lr) {
    if (!this->parameters().empty()) {
      network_ = engine::make_optimizer(options, this->parameters(), true);
    }
    const auto rows = model.trm().puzzle_table();
    check(
        network_ != nullptr || rows.defined(), ErrorKind::Usage,
        "[trm.optimizer] nothing to train; got freeze_weights and a model without a puzzle table.");
    if (rows.defined()) lr_ = at::zeros({}, rows.options().dtype(at::kFloat));
  }

  void prepare(const engine::Rates& rates) override {
    if (network_) network_->prepare(rates);
    if (lr_.defined()) lr_.fill_(full_rate_ > 0 ? rates.lr / full_rate_ * table_.lr : 0);
  }

  bool take_averages(const engine::AveragedWeights& averages) override {
    return network_ != nullptr && network_->take_averages(averages);
  }

  bool capturable() const override { return network_ == nullptr || network_->capturable(); }

  void step(const at::Tensor& bad) override {
    const c10::NoGradGuard no_gradients;
    std::vector<at::Tensor> ids, gradients;
    for (const auto& found : model_.looked_up()) {
      if (!found.rows.grad().defined()) continue;
      ids.push_back(found.ids);
      gradients.push_back(found.rows.grad());
    }
    if (!ids.empty()) {
      sign_step(model_.trm().puzzle_table(), at::cat(ids), at::cat(gradients), lr_,
                table_.weight_decay, bad);
    }
    if (network_) network_->step(bad);
  }

  engine::NamedTensors state() const override {
    return network_ ? network_->state() : engine::NamedTensors();
  }
  void load(const engine::NamedTensors& state) override {
    if (network_) network_->load(state);
  }

 private:
  TrmModel& model_;
  TableOptions table_;
  double full_rate_;
  std::unique_ptr<engine::Optimizer> network_;
  at::Tensor lr_;  // of the table, f32 device scalar
};

}  // namespace

std::unique_ptr<engine::Optimizer> make_trm_optimizer(TrmModel& model,
                                                      const engine::OptimizerOptions& options,
                                                      const TableOptions& table) {
  return std::make_unique<TrmOptimizer>(model, engine::trainable_parameters(model.network()),
                                        options, table);
}

void sign_step(at::Tensor table, const at::Tensor& ids, const at::Tensor& gradients,
               const at::Tensor& lr, double decay, const at::Tensor& bad) {
  const auto count = ids.size(0);
  const auto positions = at::arange(count, ids.options().dtype(at::kInt));  // (B)
  const auto same = ids.unsqueeze(1).eq(ids.unsqueeze(0));                  // (B, B)
  // The gradients of all samples of a puzzle are summed at the first of them.
  const auto first =
      at::where(same, positions.unsqueeze(0), at::full_like(positions, count)).amin(1);
  auto sums = at::zeros_like(gradients);
  sums.index_add_(0, first, gradients);
  const auto rows = table.index_select(0, ids);
  const auto moved = rows * (1 - lr * decay) - lr * sums.index_select(0, first).sign();
  // The row of a puzzle that occurs twice is written twice, with the same values.
  table.index_copy_(0, ids.to(at::kLong), at::where(bad.gt(0), rows, moved));
}

}  // namespace ubique::trm
