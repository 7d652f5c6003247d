// SPDX-License-Identifier: Apache-2.0
// job.json in the result's folder says how the attempt ended: with it the transaction can be made
// later as well.
#include "ubique/serve/worker/publish.h"

#include <fmt/format.h>

#include "ubique/base/error.h"
#include "ubique/base/files/fault.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/jobs/command_line.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestStored = 4 << 20U;  // bytes of an outcome in the database

void replace_paths(Json& json, const std::string& reference) {
  if (json.is_string()) {
    const auto text = json.get<std::string>();  // a copy: the value is replaced
    if (text == "out") json = reference;
    if (text.starts_with("out/")) json = reference + text.substr(3);
  } else if (json.is_structured()) {
    for (auto& item : json) replace_paths(item, reference);
  }
}

std::string text_or_empty(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void register_result(WorkerContext& context, const Job& job, const Finished& finished,
                     bool has_item) {
  Ending ending{.state = state::kSucceeded,
                .error_kind = finished.error_kind,
                .error_message = finished.error_message,
                .outcome = finished.outcome};
  if (ending.outcome && ending.outcome->size() > kLargestStored) ending.outcome.reset();
  if (has_item) ending.item = job.id;
  context.jobs.end(job.id, ending, [&] {
    if (has_item) context.library.add(job, library_kind(job.request));
  });
}

}  // namespace

std::string outcome_with_references(const std::string& outcome, std::int64_t job) {
  auto json = parse_json(outcome, "the command's JSON");
  replace_paths(json, fmt::format("library:{}", job));
  return json_text(json);
}

void publish(WorkerContext& context, const Job& job, const fs::path& attempt,
             const Finished& finished) {
  std::error_code ignored;
  if (register_left_over(context, job)) {  // renamed by a try that failed behind that
    fs::remove_all(attempt, ignored);
    return;
  }
  const auto kind = library_kind(job.request);
  const auto made = attempt / "out";
  const bool has_files = fs::is_directory(made, ignored) && !fs::is_empty(made, ignored);
  const bool has_item = !kind.empty() && (has_files || finished.outcome);
  if (has_item) {
    make_folder(made);
    if (finished.outcome) write_file(made / "outcome.json", *finished.outcome + "\n");
    const Json mark = {{"job", job.id},
                       {"attempt", job.attempts},
                       {"error_kind", finished.error_kind},
                       {"error_message", finished.error_message}};
    fs::rename(attempt / kLogFile, made / kLogFile, ignored);
    write_file(made / "job.json", json_text(mark) + "\n");
    fault_point("serve.publish.marked");
    fs::rename(made, context.folders.result(job.id));
    sync_folder(context.folders.results);
    fault_point("serve.publish.renamed");
  }
  register_result(context, job, finished, has_item);
  fault_point("serve.publish.registered");
  if (has_item) fs::remove_all(attempt, ignored);  // else the log stays there
}

bool register_left_over(WorkerContext& context, const Job& job) {
  const auto folder = context.folders.result(job.id);
  std::error_code ignored;
  if (!fs::exists(folder / "job.json", ignored)) return false;
  const auto mark = parse_json(read_file(folder / "job.json"), "job.json");
  Finished finished{.error_kind = text_or_empty(mark, "error_kind"),
                    .error_message = text_or_empty(mark, "error_message")};
  if (fs::exists(folder / "outcome.json", ignored)) {
    finished.outcome = read_file(folder / "outcome.json");
  }
  register_result(context, job, finished, true);
  return true;
}

}  // namespace ubique::serve
