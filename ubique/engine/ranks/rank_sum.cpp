// SPDX-License-Identifier: Apache-2.0
// Numbers of micro-batches travel as CBOR, which keeps every bit; gradients as rows.
#include "ubique/engine/ranks/rank_sum.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"

namespace ubique::engine {
namespace {

constexpr std::int64_t kMostCopies = std::int64_t{1} << 30;  // bytes of gradients kept at once

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

void merge_present(std::string& marks, const std::string& more) {
  if (marks.empty()) marks = more;
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (more[i] == '1') marks[i] = '1';
  }
}

}  // namespace

RankSum::RankSum(const dist::World& world, const NamedTensors& parameters, NamedTensors statistics)
    : world_(world),
      parameters_(parameters),
      statistics_(std::move(statistics)),
      flat_(parameters) {
  begin();
}

void RankSum::choose_order(std::int64_t micro_batches) {
  const bool fits = flat_.bytes() * micro_batches <= kMostCopies;
  order_ = fits ? SumOrder::MicroBatches : SumOrder::Ranks;
}

void RankSum::begin() {
  rows_.clear();
  present_.clear();
  parts_ = Json::array();
  shared_.clear();
}

double RankSum::agree_on_weight(double mine) const {
  for (const auto& text : world_.gather(packed(mine))) {
    const auto weight = Json::from_cbor(text).get<double>();
    if (weight > 0) return weight;
  }
  return 0;
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
  if (batch.weight == 0) return;
  const StatisticsRecord record;
  const auto part = sum.compute(batch);
  check(statistics_.empty() || !record.changes().empty(), ErrorKind::Internal,
        "[engine.ranks] running statistics that the other ranks do not hear of; got no change, "
        "expected the model to change them by engine::update_running().");
  parts_.push_back(describe(part, record.changes()));
  merge_present(present_, flat_.present());
  if (order_ == SumOrder::MicroBatches) rows_.push_back(flat_.take());
}

std::vector<Json> RankSum::share(const Json& news) {
  shared_.clear();
  std::vector<Json> all_news;
  const Json mine = {{"news", news}, {"parts", parts_}, {"present", present_}};
  for (const auto& text : world_.gather(packed(mine))) {
    shared_.push_back(Json::from_cbor(text));
    all_news.push_back(shared_.back()["news"]);
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
  std::vector<std::int64_t> counts;
  std::string present;
  for (const auto& rank : shared_) {
    const auto& parts = rank["parts"];
    for (const auto& part : parts) {
      sum.fold(read_part(part, device));
      apply_changes(part);
    }
    const auto computed = static_cast<std::int64_t>(parts.size());
    counts.push_back(order_ == SumOrder::Ranks ? std::min<std::int64_t>(computed, 1) : computed);
    merge_present(present, rank["present"].get<std::string>());
  }
  if (sum.empty()) return;
  if (order_ == SumOrder::Ranks && !parts_.empty()) rows_.push_back(flat_.take());
  std::vector<at::Tensor> sums;
  for (std::size_t group = 0; group < flat_.groups(); ++group) {
    std::vector<at::Tensor> mine;
    for (auto& rows : rows_) mine.push_back(std::move(rows[group]));
    sums.push_back(world_.sum_rows(mine.empty()       ? flat_.empty_rows(group)
                                   : mine.size() == 1 ? mine.front().unsqueeze(0)
                                                      : at::stack(mine),
                                   counts));
  }
  rows_.clear();
  flat_.set(sums, present);
}

}  // namespace ubique::engine
