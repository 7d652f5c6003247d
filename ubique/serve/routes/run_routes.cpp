// SPDX-License-Identifier: Apache-2.0
// /api/runs: trainings with their live metrics and reports.
#include <fstream>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/routes/routes.h"
#include "ubique/serve/worker/context.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostRows = 5000;

/// Where a training writes, or has written; empty if nothing is there yet.
fs::path run_folder_of(const Job& job, Services& services) {
  std::error_code ignored;
  const auto finished = services.folders.result(job.id);
  if (fs::is_directory(finished, ignored)) return finished;
  const auto& row = services.table.find(job.request.verb, job.request.family, job.request.name);
  const auto running = attempt_folder(services.folders, job, row) / "out";
  return fs::is_directory(running, ignored) ? running : fs::path();
}

Response list_runs(Services& services) {
  auto runs = Json::array();
  for (const auto& job : services.jobs.list({.most = 500, .verb = "train"})) {
    if (run_folder_of(job, services).empty()) continue;
    const auto id = std::to_string(job.id);
    runs.push_back({{"id", id},
                    {"title", job.title},
                    {"family", job.request.family},
                    {"job", id},
                    {"state", job.state},
                    {"created", job.created}});
  }
  return json_answer({{"runs", std::move(runs)}});
}

fs::path file_of_run(const Request& request, Services& services, const char* name) {
  const auto job = services.jobs.get(id_in_path(request, "id", "run"));
  const auto folder = run_folder_of(job, services);
  const auto path = folder.empty() ? std::nullopt : inside(folder, name);
  if (!path) missing("run with a file", name);
  return *path;
}

Response metrics(const Request& request, Services& services) {
  const auto from = request.number("from", 0, 0, 1LL << 40U);
  std::ifstream file(file_of_run(request, services, "metrics.jsonl"));
  auto rows = Json::array();
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line) && number < from + kMostRows;) {
    if (file.eof()) break;  // a line that is still being written
    if (number++ < from) continue;
    auto row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    rows.push_back(row.is_discarded() ? Json(nullptr) : std::move(row));
  }
  return json_answer({{"rows", std::move(rows)}, {"next", std::max(number, from)}});
}

Response report(const Request& request, Services& services) {
  auto response = file_answer(file_of_run(request, services, "report.html"), "text/html", request);
  response.headers.erase("Content-Disposition");
  // The page is ours, but holds names from data: no address of ours is open to it.
  response.headers["Content-Security-Policy"] =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
      "sandbox allow-scripts; frame-ancestors 'self'";
  return response;
}

}  // namespace

void add_run_routes(Router& router, Services& services) {
  router.add("GET", "/api/runs", [&](const Request&) { return list_runs(services); });
  router.add("GET", "/api/runs/{id}/metrics",
             [&](const Request& r) { return metrics(r, services); });
  router.add("GET", "/api/runs/{id}/report", [&](const Request& r) { return report(r, services); });
}

}  // namespace ubique::serve
