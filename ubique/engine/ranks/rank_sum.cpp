// SPDX-License-Identifier: Apache-2.0
// Numbers of micro-batches travel as CBOR, which keeps every bit; gradients as they are.
#include "ubique/engine/ranks/rank_sum.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/plan/world/exchange.h"

namespace ubique::engine {
namespace {

std::string packed(const Json& json) {
  const auto bytes = Json::to_cbor(json);
  return {bytes.begin(), bytes.end()};
}

/// Sums are made in the dtype that the model gave.
Json scalar(const at::Tensor& tensor) {
  return {tensor.item<double>(), static_cast<int>(tensor.scalar_type())};
}

at::Tensor tensor_of(const Json& scalar, c10::Device device) {
  const auto dtype = static_cast<at::ScalarType>(scalar[1].get<int>());
  return at::full({}, scalar[0].get<double>(), at::TensorOptions(dtype).device(device));
}

PartSums read_part(const Json& json, c10::Device device) {
  PartSums part;
  part.weight = json["weight"].get<double>();
  part.samples = json["samples"].get<std::int64_t>();
  part.loss = tensor_of(json["loss"], device);
  for (const auto& item : json["metrics"]) {
    part.metrics.emplace_back(item[0].get<std::string>(), tensor_of(item[1], device));
  }
  for (const auto& item : json["ratios"]) {
    part.ratios.push_back(
        {item[0].get<std::string>(), tensor_of(item[1], device), tensor_of(item[2], device)});
  }
  return part;
}

}  // namespace

RankSum::RankSum(const dist::World& world, const NamedTensors& parameters, NamedTensors statistics)
    : world_(world),
      parameters_(parameters),
      statistics_(std::move(statistics)),
      exchange_(world, parameters) {
  begin();
}

void RankSum::choose_order(std::int64_t micro_batches) {
  const bool fits = gradient_bytes(parameters_) * micro_batches <= plan::kMostGradientCopies;
  order_ = fits ? SumOrder::MicroBatches : SumOrder::Ranks;
  exchange_.relearn();
}

void RankSum::begin() {
  exchange_.reset();
  to_add_ = 0;
  parts_ = Json::array();
  shared_.clear();
  gradients_.clear();
}

double RankSum::agree_on_weight(double mine, std::int64_t micro_batches) {
  double agreed = 0;
  micro_batches_.clear();
  for (const auto& text : world_.gather(packed({mine, micro_batches}))) {
    const auto json = Json::from_cbor(text);
    if (agreed == 0) agreed = json[0].get<double>();
    micro_batches_.push_back(json[1].get<std::int64_t>());
  }
  start_exchange(micro_batches_);
  return agreed;
}

/// Of the rows of an update the first rank's are added up first: it may do that itself.
void RankSum::start_exchange(const std::vector<std::int64_t>& micro_batches) {
  std::vector<dist::RowsOfRank> ranks;
  for (const auto count : micro_batches) {
    const bool adds_up = count > 0 && (ranks.empty() || order_ == SumOrder::Ranks);
    ranks.push_back(adds_up ? dist::RowsOfRank{1, count - 1} : dist::RowsOfRank{count, 0});
  }
  to_add_ = micro_batches[world_.rank()];
  adds_up_own_ = world_.is_first() || order_ == SumOrder::Ranks;
  exchange_.start(std::move(ranks));
}

Json RankSum::describe(const PartSums& part, const std::vector<StatisticsChange>& changes) const {
  Json json = {{"weight", part.weight},    {"samples", part.samples}, {"loss", scalar(part.loss)},
               {"metrics", Json::array()}, {"ratios", Json::array()}, {"changes", Json::array()}};
  for (const auto& [name, value] : part.metrics) json["metrics"].push_back({name, scalar(value)});
  for (const auto& ratio : part.ratios) {
    json["ratios"].push_back({ratio.name, scalar(ratio.sum), scalar(ratio.count)});
  }
  for (const auto& change : changes) {
    const auto known = std::ranges::find_if(
        statistics_, [&](const auto& item) { return item.second.is_same(change.running); });
    check(known != statistics_.end(), ErrorKind::Internal,
          "[engine.ranks] a running statistic that is no buffer of the network.");
    std::vector<double> values;
    if (change.value.defined()) {
      const auto host = change.value.detach().to(at::kDouble).cpu().contiguous();
      values.assign(host.const_data_ptr<double>(), host.const_data_ptr<double>() + host.numel());
    }
    json["changes"].push_back({known - statistics_.begin(), change.share, values});
  }
  return json;
}

void RankSum::add(GradientAccumulation& sum, const Batch& batch) {
  --to_add_;
  if (batch.weight == 0) return;
  const StatisticsRecord record;
  exchange_.before_passes(!adds_up_own_ || to_add_ == 0);
  const auto part = sum.compute(batch);
  exchange_.after_passes();
  check(statistics_.empty() || !record.changes().empty(), ErrorKind::Internal,
        "[engine.ranks] running statistics that the other ranks do not hear of; got no change, "
        "expected the model to change them by engine::update_running().");
  parts_.push_back(describe(part, record.changes()));
}

std::vector<Json> RankSum::share(const Json& news) {
  exchange_.flush();
  std::vector<Json> all_news;
  const Json mine = {{"news", news}, {"parts", parts_}, {"gradients", exchange_.news()}};
  for (const auto& text : world_.gather(packed(mine))) {
    auto json = Json::from_cbor(text);
    shared_.push_back(std::move(json["parts"]));
    gradients_.push_back(std::move(json["gradients"]));
    all_news.push_back(std::move(json["news"]));
  }
  return all_news;
}

void RankSum::apply_changes(const Json& part) const {
  for (const auto& item : part["changes"]) {
    const auto& running = statistics_.at(item[0].get<std::size_t>()).second;
    const auto values = item[2].get<std::vector<double>>();
    StatisticsChange change{running, {}, item[1].get<double>()};
    if (!values.empty()) {
      change.value = at::tensor(values, at::kDouble).view(running.sizes()).to(running.options());
    }
    apply(change);
  }
}

void RankSum::reduce(GradientAccumulation& sum, const StatisticsBackup& before) {
  const c10::NoGradGuard no_gradients;
  const auto device = parameters_.front().second.device();
  before.restore();
  for (const auto& parts : shared_) {
    for (const auto& part : parts) {
      sum.fold(read_part(part, device));
      apply_changes(part);
    }
  }
  if (!sum.empty()) exchange_.finish(gradients_);
}

}  // namespace ubique::engine
