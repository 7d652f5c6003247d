// SPDX-License-Identifier: Apache-2.0
// The head of the report, and the parts put together.
#include "ubique/engine/run/report_page.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/text/embedded.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/run/report_sections.h"
#include "ubique/engine/run/report_text.h"

namespace ubique::engine {
namespace {

std::string_view report_part(std::string_view name) {
  for (const auto& part : embedded::report_parts()) {
    if (part.name == name) return part.text;
  }
  fail(ErrorKind::Internal, "[engine.report] the program lacks its own {}.", name);
}

const char* status_class(const std::string& status) {
  const auto word = lowercase(status);
  const auto says = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (says("fail") || says("error") || says("not finite")) return "bad";
  if (says("finish") || says("early")) return "good";  // stopping early is a way to finish
  if (says("interrupt") || says("stop")) return "warn";
  return says("run") ? "busy" : "";
}

std::string tile(const std::string& name, const std::string& value, const std::string& note) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd><dd>{}</dd></div>\n", escape_html(name),
                     escape_html(value), escape_html(note));
}

/// The first score of the best epoch: families put the one that matters in front.
std::string best_tile(const std::vector<EpochRecord>& epochs) {
  const auto best = std::find_if(epochs.rbegin(), epochs.rend(), [](const EpochRecord& record) {
    return record.best && !record.scores.empty();
  });
  if (best == epochs.rend()) return {};
  const auto& [name, value] = best->scores.front();
  return tile("Best " + name, number_text(value), fmt::format("epoch {}", best->epoch + 1));
}

std::string loss_tile(const ReportSource& source) {
  if (!source.epochs.empty()) {
    const auto& last = source.epochs.back();
    return tile("Training loss", number_text(last.train_loss),
                fmt::format("epoch {}", last.epoch + 1));
  }
  if (source.steps.empty()) return {};
  return tile("Training loss", number_text(source.steps.back().loss), "last step");
}

std::string progress_tile(const ReportSource& source) {
  std::int64_t steps = 0;
  if (!source.steps.empty()) steps = source.steps.back().step;
  if (!source.epochs.empty()) steps = std::max(steps, source.epochs.back().step);
  const auto skipped = std::count_if(source.steps.begin(), source.steps.end(),
                                     [](const StepRecord& record) { return record.skipped; });
  const auto epochs = source.epochs.size();
  auto note = fmt::format("{} epoch{}", epochs, epochs == 1 ? "" : "s");
  if (skipped > 0) note += fmt::format(", {} skipped", skipped);
  return tile("Steps", count_text(steps), note);
}

std::string time_tile(const std::vector<EpochRecord>& epochs) {
  if (epochs.empty()) return {};
  const double seconds =
      std::accumulate(epochs.begin(), epochs.end(), 0.0,
                      [](double sum, const EpochRecord& record) { return sum + record.seconds; });
  return tile("Time", duration_text(seconds),
              duration_text(seconds / static_cast<double>(epochs.size())) + " an epoch");
}

std::string speed_tile(const std::vector<StepRecord>& steps) {
  std::vector<double> speeds;
  for (const auto& record : steps) {
    if (std::isfinite(record.samples_per_second) && record.samples_per_second > 0) {
      speeds.push_back(record.samples_per_second);
    }
  }
  if (speeds.empty()) return {};
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  return tile("Throughput", fmt::format("{:.3g}/s", *middle), "samples, median");
}

std::string memory_tile(const ReportContent& content) {
  if (content.measured_bytes <= 0) return {};
  return tile("Peak memory", human_bytes(content.measured_bytes),
              content.predicted_bytes > 0 ? human_bytes(content.predicted_bytes) + " predicted"
                                          : "measured");
}

}  // namespace

std::string report_page(const ReportSource& source) {
  const auto& content = source.content;
  const auto when = fmt::gmtime(static_cast<std::time_t>(source.written_at));
  const auto tiles = best_tile(source.epochs) + loss_tile(source) + progress_tile(source) +
                     time_tile(source.epochs) + speed_tile(source.steps) + memory_tile(content);
  const auto sections = curves_section(source) + memory_section(content) +
                        pictures_section(content.pictures) + plan_section(content.plan) +
                        facts_section(content.facts) + configuration_section(source.configuration);
  return fill_template(
      report_part("page.html"),
      {{"title", escape_html(content.title)},
       {"version", program_version()},
       {"style", std::string(report_part("style.css"))},
       {"script", std::string(report_part("script.js"))},
       {"status", escape_html(content.status)},
       {"status_class", status_class(content.status)},
       {"machine", content.plan == nullptr ? "" : escape_html(content.plan->machine)},
       {"when", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", when)},
       {"when_text", fmt::format("{:%Y-%m-%d %H:%M} UTC", when)},
       {"tiles", tiles},
       {"sections", sections}});
}

}  // namespace ubique::engine
