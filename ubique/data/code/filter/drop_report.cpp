// SPDX-License-Identifier: Apache-2.0
// Counts with the first few examples.
#include "ubique/data/code/filter/drop_report.h"

#include "ubique/base/terminal/table.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::data {
namespace {

constexpr std::size_t kMostExamples = 5, kCommitDigits = 12;

}  // namespace

void DropReport::count_in(Reasons& reasons, std::string_view name, const DocumentInfo& info,
                          std::int64_t count) {
  auto found = reasons.find(name);
  if (found == reasons.end()) found = reasons.emplace(std::string(name), Reason()).first;
  auto& reason = found->second;
  reason.count += count;
  if (reason.examples.size() >= kMostExamples || (info.path.empty() && info.commit.empty())) return;
  auto example = info.path;
  if (!info.commit.empty()) {
    example += (example.empty() ? "" : " @ ") + info.commit.substr(0, kCommitDigits);
  }
  reason.examples.push_back(std::move(example));
}

void DropReport::drop(std::string_view reason, const DocumentInfo& info, std::int64_t count) {
  count_in(dropped_, reason, info, count);
}

void DropReport::change(std::string_view what, const DocumentInfo& info, std::int64_t count) {
  count_in(changed_, what, info, count);
}

void DropReport::add_reasons(Reasons& reasons, const Reasons& more) {
  for (const auto& [name, reason] : more) {
    auto& sum = reasons[name];
    sum.count += reason.count;
    for (const auto& example : reason.examples) {
      if (sum.examples.size() < kMostExamples) sum.examples.push_back(example);
    }
  }
}

void DropReport::add(const DropReport& other) {
  add_reasons(dropped_, other.dropped_);
  add_reasons(changed_, other.changed_);
}

std::int64_t DropReport::dropped() const {
  std::int64_t sum = 0;
  for (const auto& [name, reason] : dropped_) sum += reason.count;
  return sum;
}

Json DropReport::counts() const {
  auto json = Json::object();
  for (const auto& [name, reason] : dropped_) json[name] = reason.count;
  return json;
}

Json DropReport::json() const {
  const auto part = [](const Reasons& reasons) {
    auto json = Json::object();
    for (const auto& [name, reason] : reasons) {
      json[name] = {{"count", reason.count}, {"examples", reason.examples}};
    }
    return json;
  };
  return {{"dropped", part(dropped_)}, {"changed", part(changed_)}};
}

std::string DropReport::text() const {
  Table table({"what", "why", "count", "examples"});
  for (const auto& [what, reasons] :
       {std::pair("dropped", &dropped_), std::pair("changed", &changed_)}) {
    for (const auto& [name, reason] : *reasons) {
      std::vector<std::string> examples;
      for (const auto& example : reason.examples) examples.push_back(printable(example, 70));
      table.add_row({what, name, std::to_string(reason.count), join(examples, "\n")});
    }
  }
  return table.empty() ? "nothing was dropped or changed\n" : table.to_text();
}

}  // namespace ubique::data
