// SPDX-License-Identifier: Apache-2.0
// Formatting of scores.
#include "ubique/models/msinet/score/metric_report.h"

#include <fmt/format.h>

#include <cmath>

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/csv.h"
#include "ubique/base/text/json.h"

namespace ubique::msinet {
namespace {

constexpr int kScoresVersion = 1;

Json values_json(const MetricValues& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const std::string key(metric_key(static_cast<Metric>(i)));
    if (std::isfinite(values[i])) {
      json[key] = values[i];
    } else {
      json[key] = nullptr;
    }
  }
  return json;
}

/// Enough digits to read back the same number; empty for NaN.
std::string values_csv(const MetricValues& values) {
  std::string text;
  for (const double value : values) {
    text += ',';
    if (!std::isnan(value)) text += fmt::format("{}", value);
  }
  return text;
}

}  // namespace

std::string score_table(std::span<const ScoreRow> rows, Averaging averaging) {
  std::vector<std::string> header = {"map"};
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    header.emplace_back(to_string(static_cast<Metric>(i)));
  }
  Table table(header);
  for (const auto& row : rows) {
    std::vector<std::string> cells = {row.name};
    for (const double value : row.mean(averaging)) {
      cells.push_back(std::isnan(value) ? "-" : fmt::format("{:.4f}", value));
    }
    table.add_row(cells);
  }
  return table.to_text();
}

Json scores_json(std::span<const ScoreRow> rows, const ScoreOptions& options) {
  auto json = json_document("saliency_scores", kScoresVersion);
  json["definition"] = to_string(options.definition);
  json["averaging"] =
      usual_averaging(options.definition) == Averaging::Images ? "images" : "fixations";
  json["seed"] = options.sampling.seed;
  json["uniform"] = options.uniform;
  json["rows"] = Json::array();
  for (const auto& row : rows) {
    Json entry;
    entry["name"] = row.name;
    entry["fixations"] = row.fixations();
    entry["mean_over_images"] = values_json(row.mean(Averaging::Images));
    entry["mean_over_fixations"] = values_json(row.mean(Averaging::Fixations));
    entry["images"] = Json::array();
    for (const auto& image : row.images) {
      Json line;
      line["name"] = image.name;
      line["fixations"] = image.fixations;
      line["dropped"] = image.dropped;
      line.update(values_json(image.values));
      entry["images"].push_back(std::move(line));
    }
    json["rows"].push_back(std::move(entry));
  }
  return json;
}

std::string scores_csv(std::span<const ScoreRow> rows, Averaging averaging) {
  std::string text = "map,image,fixations,dropped";
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    text += fmt::format(",{}", metric_key(static_cast<Metric>(i)));
  }
  text += '\n';
  for (const auto& row : rows) {
    for (const auto& image : row.images) {
      text += fmt::format("{},{},{},{}{}\n", csv_field(row.name), csv_field(image.name),
                          image.fixations, image.dropped, values_csv(image.values));
    }
  }
  for (const auto& row : rows) {
    std::int64_t dropped = 0;
    for (const auto& image : row.images) dropped += image.dropped;
    text += fmt::format("{},,{},{}{}\n", csv_field(row.name), row.fixations(), dropped,
                        values_csv(row.mean(averaging)));
  }
  return text;
}

}  // namespace ubique::msinet
