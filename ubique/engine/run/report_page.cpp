// SPDX-License-Identifier: Apache-2.0
// The report's head (status and key figures) and its sections, put into the page's template.
#include "ubique/engine/run/report_page.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "ubique/base/error.h"
#include "ubique/base/text/base64.h"
#include "ubique/base/text/embedded.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/engine/checkpoint/checkpoint_header.h"
#include "ubique/engine/run/report_curves.h"
#include "ubique/engine/run/report_text.h"
#include "ubique/plan/report.h"

namespace ubique::engine {
namespace {

std::string_view report_part(std::string_view name) {
  for (const auto& part : embedded::report_parts()) {
    if (part.name == name) return part.text;
  }
  fail(ErrorKind::Internal, "[engine.report] the program lacks its embedded {}.", name);
}

const char* status_class(const std::string& status) {
  const auto word = lowercase(status);
  const auto says = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  if (says("fail") || says("error") || says("not finite")) return "bad";
  if (says("finish") || says("early"))
    return "good";  // before "stop": early stopping is not a failure
  if (says("interrupt") || says("stop")) return "warn";
  return says("run") ? "busy" : "";
}

std::string tile(const std::string& name, const std::string& value, const std::string& note) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd><dd>{}</dd></div>\n", escape_html(name),
                     escape_html(value), escape_html(note));
}

/// The first score of the best epoch: families list the main one first.
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

/// A section with a heading; empty if there is no body.
std::string section(const char* title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", title, body);
}

struct MemoryPart {
  const char* name;
  std::int64_t bytes;
  const char* colour;  // a class of the style sheet
};

/// The parts of the predicted memory; none if the prediction is not the plan's.
std::vector<MemoryPart> parts_of(const ReportContent& content) {
  if (content.plan == nullptr || content.plan->memory.total != content.predicted_bytes) return {};
  const auto& memory = content.plan->memory;
  std::vector<MemoryPart> parts = {{"weights", memory.weights, "s0"},
                                   {"gradients", memory.gradients, "s1"},
                                   {"optimizer", memory.optimizer, "s2"},
                                   {"activations", memory.activations, "s3"},
                                   {"workspace", memory.workspace, "s4"}};
  std::erase_if(parts, [](const MemoryPart& part) { return part.bytes <= 0; });
  return parts;
}

std::string memory_row(const char* name, const std::vector<MemoryPart>& parts, std::int64_t bytes,
                       std::int64_t full) {
  std::string bars;
  for (const auto& part : parts) {
    bars +=
        fmt::format("<span class=\"{}\" style=\"width:{:.2f}%\" title=\"{} {}\"></span>",
                    part.colour, 100 * static_cast<double>(part.bytes) / static_cast<double>(full),
                    part.name, human_bytes(part.bytes));
  }
  return fmt::format(
      "<div class=\"row\"><span>{}</span><div class=\"bar\">{}</div><span>{}</span>"
      "</div>\n",
      name, bars, human_bytes(bytes));
}

std::string parts_legend(const std::vector<MemoryPart>& parts) {
  std::string items;
  for (const auto& part : parts) {
    items += fmt::format("<li class=\"{}\"><i></i>{} {}</li>", part.colour, part.name,
                         human_bytes(part.bytes));
  }
  return parts.empty() ? "" : fmt::format("<ul class=\"legend\">{}</ul>\n", items);
}

std::string memory_verdict(const ReportContent& content) {
  std::string text;
  if (content.predicted_bytes > 0 && content.measured_bytes > 0) {
    const double ratio =
        static_cast<double>(content.measured_bytes) / static_cast<double>(content.predicted_bytes);
    text = fmt::format("Measured peak / predicted peak = <b>{:.3f}</b>. ", ratio);
  }
  if (content.plan != nullptr && content.plan->memory.budget > 0) {
    text += fmt::format("<span class=\"soft\">Budget {}: {}.</span>",
                        human_bytes(content.plan->memory.budget),
                        escape_html(content.plan->budget_reason));
  }
  return text.empty() ? "" : "<p>" + text + "</p>\n";
}

std::string plan_row(const std::string& key, const std::string& value, const std::string& reason,
                     const std::vector<plan::Rejected>& rejected) {
  std::string items;
  for (const auto& item : rejected) {
    items += fmt::format("<li><b>{}</b>: {}</li>", escape_html(item.option), escape_html(item.why));
  }
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}{}</td></tr>\n",
                     escape_html(key), escape_html(value), escape_html(reason),
                     items.empty() ? "" : "<ul>" + items + "</ul>");
}

std::string fact_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return number_text(value.get<double>());
  if (value.is_number_integer()) return count_text(value.get<std::int64_t>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return json_text(value);
}

std::string curves_section(const ReportSource& source) {
  std::string figures;
  for (const auto& chart :
       run_charts(source.steps, source.epochs, source.content.predicted_bytes)) {
    figures += chart_figure(chart);
  }
  if (figures.empty()) return "<p class=\"soft\">No step has been recorded yet.</p>\n";
  return section("Curves", "<div class=\"charts\">\n" + figures + "</div>\n");
}

std::string memory_section(const ReportContent& content) {
  const auto full = std::max(content.predicted_bytes, content.measured_bytes);
  if (full <= 0) return {};
  const auto parts = parts_of(content);
  std::string body;
  if (content.predicted_bytes > 0) {
    const std::vector<MemoryPart> whole = {{"predicted", content.predicted_bytes, "s0"}};
    body += memory_row("Predicted", parts.empty() ? whole : parts, content.predicted_bytes, full);
  }
  if (content.measured_bytes > 0) {
    body += memory_row("Measured", {{"measured", content.measured_bytes, "mark"}},
                       content.measured_bytes, full);
  }
  body += parts_legend(parts) + memory_verdict(content);
  return section("Peak memory", "<div class=\"card memory\">\n" + body + "</div>\n");
}

std::string pictures_section(const std::vector<ReportPicture>& pictures) {
  std::string figures;
  for (const auto& picture : pictures) {
    const auto caption = escape_html(picture.caption);
    figures += fmt::format(
        "<figure class=\"card\"><img alt=\"{}\" src=\"data:image/png;base64,{}\">"
        "<figcaption>{}</figcaption></figure>\n",
        caption, base64(picture.png), caption);
  }
  if (figures.empty()) return {};
  return section("Pictures", "<div class=\"pictures\">\n" + figures + "</div>\n");
}

/// Bytes of all sounds that the page itself holds; others are links to files beside it.
constexpr std::size_t kMostSoundBytes = std::size_t{4} << 20U;

std::string sounds_section(const std::vector<ReportSound>& sounds) {
  std::string figures;
  std::size_t held = 0;
  for (const auto& sound : sounds) {
    const bool fits = sound.bytes.size() <= kMostSoundBytes - held;
    if (!fits && sound.file.empty()) continue;
    if (fits) held += sound.bytes.size();
    const auto source = fits ? fmt::format("data:audio/{};base64,{}", escape_html(sound.format),
                                           base64(sound.bytes))
                             : escape_html(sound.file);
    figures += fmt::format(
        "<figure class=\"card sound\"><audio controls preload=\"none\" src=\"{}\"></audio>"
        "<figcaption>{}</figcaption></figure>\n",
        source, escape_html(sound.caption));
  }
  return section("Sounds",
                 figures.empty() ? "" : "<div class=\"sounds\">\n" + figures + "</div>\n");
}

/// What the model wrote at the last validation that shows texts.
std::string texts_section(const std::vector<EpochRecord>& epochs) {
  const auto last = std::find_if(epochs.rbegin(), epochs.rend(),
                                 [](const EpochRecord& record) { return !record.texts.empty(); });
  if (last == epochs.rend()) return {};
  std::string figures;
  for (const auto& text : last->texts) {
    figures +=
        fmt::format("<figure class=\"card\"><figcaption>{}</figcaption><pre>{}</pre></figure>\n",
                    escape_html(text.caption), escape_html(text.text));
  }
  return section(
      "Texts", fmt::format("<p class=\"soft\">After epoch {}.</p>\n{}", last->epoch + 1, figures));
}

std::string plan_section(const plan::Plan* plan) {
  if (plan == nullptr) return {};
  std::string rows;
  for (const auto& field : plan::fields(*plan)) {
    rows += plan_row(field.key, field.text, field.reason, field.rejected);
  }
  for (const auto& item : plan->workarounds) rows += plan_row("workaround", item.id, item.why, {});
  return section("Plan",
                 "<table class=\"plan card\"><thead><tr><th>Choice</th><th>Value</th>"
                 "<th>Why, and what was rejected</th></tr></thead>\n<tbody>" +
                     rows + "</tbody></table>\n");
}

std::string facts_section(const Json& facts) {
  std::string items;
  if (!facts.is_object()) return {};
  for (const auto& [name, value] : facts.items()) {
    items +=
        fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(fact_text(value)));
  }
  if (items.empty()) return {};
  return section("Facts", "<dl class=\"card facts\">\n" + items + "</dl>\n");
}

std::string configuration_section(const std::string& yaml) {
  if (yaml.empty()) return {};
  return section("Configuration",
                 "<details class=\"card\"><summary>run.yaml, as resolved from flags, environment, "
                 "file and defaults</summary><pre>" +
                     escape_html(yaml) + "</pre></details>\n");
}

}  // namespace

std::string report_page(const ReportSource& source) {
  const auto& content = source.content;
  const auto when = fmt::gmtime(static_cast<std::time_t>(source.written_at));
  const auto tiles = best_tile(source.epochs) + loss_tile(source) + progress_tile(source) +
                     time_tile(source.epochs) + speed_tile(source.steps) + memory_tile(content);
  const auto sections = curves_section(source) + memory_section(content) +
                        sounds_section(content.sounds) + pictures_section(content.pictures) +
                        texts_section(source.epochs) + plan_section(content.plan) +
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
