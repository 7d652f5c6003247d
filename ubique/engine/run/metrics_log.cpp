// SPDX-License-Identifier: Apache-2.0
// Records as JSON lines and back, and the append-only file with its repairs.
#include "ubique/engine/run/metrics_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "ubique/base/error.h"
#include "ubique/base/files/fault.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"

namespace ubique::engine {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_metrics(const fs::path& path, int error) {
  fail(ErrorKind::Input, "[engine.metrics] cannot write {}; {}.", path.string(),
       std::generic_category().message(error));
}

Json json_of(const Scores& scores) {
  auto json = Json::object();
  for (const auto& [name, value] : scores) json[name] = value;
  return json;
}

/// Non-finite numbers are null in JSON.
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Scores scores_of(const Json& json) {
  Scores scores;
  for (const auto& [name, value] : json.items()) scores.emplace_back(name, number_of(value));
  return scores;
}

std::string line_of(const Json& json) { return json_text(json) + "\n"; }

std::string line_of(const StepRecord& record) {
  return line_of(Json{{"kind", "step"},
                      {"step", record.step},
                      {"epoch", record.epoch},
                      {"loss", record.loss},
                      {"lr", record.lr},
                      {"grad_norm", record.grad_norm},
                      {"scale", record.scale},
                      {"samples_per_second", record.samples_per_second},
                      {"memory_now", record.memory_now},
                      {"memory_peak", record.memory_peak},
                      {"metrics", json_of(record.metrics)},
                      {"skipped", record.skipped}});
}

std::string line_of(const EpochRecord& record) {
  Json json = {{"kind", "epoch"},
               {"epoch", record.epoch},
               {"step", record.step},
               {"train_loss", record.train_loss},
               {"scores", json_of(record.scores)},
               {"seconds", record.seconds},
               {"best", record.best}};
  for (const auto& text : record.texts) {
    json["texts"].push_back({{"caption", text.caption}, {"text", text.text}});
  }
  return line_of(json);
}

StepRecord step_of(const Json& json) {
  return {json.at("step"),
          json.at("epoch"),
          number_of(json.at("loss")),
          number_of(json.at("lr")),
          number_of(json.at("grad_norm")),
          number_of(json.at("scale")),
          number_of(json.at("samples_per_second")),
          json.at("memory_now"),
          json.at("memory_peak"),
          scores_of(json.at("metrics")),
          json.at("skipped")};
}

EpochRecord epoch_of(const Json& json) {
  EpochRecord record = {json.at("epoch"),
                        json.at("step"),
                        number_of(json.at("train_loss")),
                        scores_of(json.at("scores")),
                        number_of(json.at("seconds")),
                        json.at("best")};
  if (!json.contains("texts")) return record;
  for (const auto& text : json.at("texts")) {
    record.texts.push_back({text.at("caption"), text.at("text")});
  }
  return record;
}

/// Removes records from the end while `too_late` holds; true if there were any.
template <typename Record, typename TooLate>
bool drop_late(std::vector<Record>& records, const TooLate& too_late) {
  const auto before = records.size();
  while (!records.empty() && too_late(records.back())) records.pop_back();
  return records.size() != before;
}

}  // namespace

MetricsLog::MetricsLog(fs::path path) : path_(std::move(path)) {
  read();
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_metrics(path_, errno);
}

MetricsLog::~MetricsLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MetricsLog::read() {
  std::error_code ignored;
  if (!fs::exists(path_, ignored)) return;
  const auto text = read_file(path_, 1LL << 34);
  std::size_t unreadable = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    try {
      read_line(text.substr(begin, end - begin));
      unreadable += end == std::string::npos ? 1 : 0;  // readable, but without its newline
    } catch (const Json::exception&) {
      ++unreadable;
    }
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  if (unreadable == 0) return;
  log::debug("[engine.metrics] {} had {} truncated lines", path_.string(), unreadable);
  rewrite();
}

void MetricsLog::read_line(const std::string& line) {
  const auto json = Json::parse(line);
  if (json.at("kind") == "step") {
    steps_.push_back(step_of(json));
  } else {
    epochs_.push_back(epoch_of(json));
  }
}

void MetricsLog::add(const StepRecord& record) {
  if (!steps_.empty() && steps_.back().step >= record.step) rewind(record.step - 1);
  append(line_of(record));
  steps_.push_back(record);
}

void MetricsLog::add(const EpochRecord& record) {
  if (!epochs_.empty() && epochs_.back().epoch >= record.epoch) {
    drop_late(epochs_, [&](const auto& old) { return old.epoch >= record.epoch; });
    rewrite();
  }
  append(line_of(record));
  epochs_.push_back(record);
}

void MetricsLog::rewind(std::int64_t step) {
  const auto too_late = [&](const auto& record) { return record.step > step; };
  const bool dropped_steps = drop_late(steps_, too_late);
  const bool dropped_epochs = drop_late(epochs_, too_late);
  if (dropped_steps || dropped_epochs) rewrite();
}

/// Writes all records again, in the order of their steps.
void MetricsLog::rewrite() {
  std::string text;
  auto epoch = epochs_.begin();
  for (const auto& step : steps_) {
    while (epoch != epochs_.end() && epoch->step < step.step) text += line_of(*epoch++);
    text += line_of(step);
  }
  while (epoch != epochs_.end()) text += line_of(*epoch++);
  write_file(path_, text);
  if (descriptor_ < 0) return;  // still reading: it is opened afterwards
  ::close(descriptor_);
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) fail_metrics(path_, errno);
}

/// Writes the whole line or nothing.
void MetricsLog::append(const std::string& line) {
  fault_point("metrics.append");
  struct stat before {};
  if (::fstat(descriptor_, &before) != 0) fail_metrics(path_, errno);
  ssize_t count = 0;
  do {
    count = ::write(descriptor_, line.data(), line.size());
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(line.size())) return;
  const int error = count < 0 ? errno : ENOSPC;
  // If this fails too, the truncated line stays, and the next reader drops it.
  if (count > 0 && ::ftruncate(descriptor_, before.st_size) != 0) fail_metrics(path_, errno);
  fail_metrics(path_, error);
}

void MetricsLog::sync() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EINTR) {
    fail_metrics(path_, errno);
  }
}

}  // namespace ubique::engine
