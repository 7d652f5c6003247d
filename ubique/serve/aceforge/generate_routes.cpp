// SPDX-License-Identifier: Apache-2.0
// /api/generate: a song as a job, and how far it is.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/printable.h"
#include "ubique/io/audio/audio_file.h"
#include "ubique/serve/aceforge/body.h"
#include "ubique/serve/aceforge/routes.h"
#include "ubique/serve/jobs/command_line.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHistory = 50;
constexpr std::int64_t kLargestClip = 512LL << 20U;  // bytes that are read for a clip's length

/// A run is a style or a whole model: its item says which.
bool is_style(const ModelEntry& entry, const Services& services) {
  constexpr std::string_view kRun = "model:run-";
  if (!entry.ref.starts_with(kRun)) return false;
  const auto id = entry.ref.substr(kRun.size());
  return services.library.get(id_of(id.substr(0, id.find('/'))))["kind"] == "adapter";
}

/// A model that was brought or pulled comes before the runs of this machine.
std::string music_model(const Services& services) {
  std::string run;
  for (const auto& entry : services.models.list()) {
    if (entry.family != "acestep" || is_style(entry, services)) continue;
    if (entry.source != "run") return entry.ref;
    if (run.empty()) run = entry.ref;
  }
  check(!run.empty(), ErrorKind::Input,
        "[serve.generate] there is no music model yet; the studio's music room gets one, or "
        "`ubique pull`.");
  return run;
}

std::string style_of(const std::string& name, const Services& services) {
  if (name.starts_with("library:")) return name;
  for (const auto& entry : services.models.list()) {
    const bool named = entry.name == name || entry.ref == name || entry.ref == "model:" + name;
    if (entry.family == "acestep" && named) return entry.ref;
  }
  fail(ErrorKind::Input, "[serve.generate] there is no style '{}'; /api/models lists them.",
       printable(name, 80));
}

/// "/api/uploads/ID", "/api/songs/ID/audio", "/api/library/ID/files/NAME", with or without a
/// server before them, or a reference itself.
std::string reference_of_url(std::string url, const Services& services) {
  if (const auto api = url.find("/api/"); api != std::string::npos) url.erase(0, api);
  const auto rest_after = [&](std::string_view prefix) {
    return url.starts_with(prefix) ? url.substr(prefix.size()) : std::string();
  };
  if (const auto id = rest_after("/api/uploads/"); !id.empty()) return "upload:" + id;
  if (auto song = rest_after("/api/songs/"); song.ends_with("/audio")) {
    const auto id = song.substr(0, song.size() - std::string_view("/audio").size());
    const auto item = services.library.get(id_of(id));
    return fmt::format("library:{}/{}", id, sound_of_item(item));
  }
  if (const auto file = rest_after("/api/library/"); file.find("/files/") != std::string::npos) {
    const auto at = file.find("/files/");
    return "library:" + file.substr(0, at) + "/" + file.substr(at + 7);
  }
  return url;  // if it is no reference either, that is said where it is looked up
}

/// song.json beside song.wav, as a reference.
std::string settings_of(const std::string& sound, const Services& services) {
  if (!sound.starts_with("library:")) return {};
  const auto settings = sound.substr(0, sound.rfind('.')) + ".json";
  try {
    services.references.resolve(settings);
    return settings;
  } catch (const Error&) {
    return {};
  }
}

double seconds_of(const std::string& sound, const Services& services) {
  const auto path = services.references.resolve(sound);
  std::error_code ignored;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, ignored));
  check(bytes <= kLargestClip, ErrorKind::Input, "[serve.generate] the clip is too large.");
  return io::read_audio(path).seconds();
}

AceForgeNames names_of(const Services& services) {
  return {
      .model = [&services] { return music_model(services); },
      .adapter = [&services](const std::string& name) { return style_of(name, services); },
      .sound = [&services](const std::string& url) { return reference_of_url(url, services); },
      .settings = [&services](const std::string& sound) { return settings_of(sound, services); },
      .seconds = [&services](const std::string& sound) { return seconds_of(sound, services); }};
}

const char* aceforge_state(const Job& job) {
  if (job.state == state::kPaused) return "queued";
  if (job.state == state::kQueued) return "queued";
  if (job.state == state::kRunning) return "running";
  if (job.state == state::kSucceeded) return "succeeded";
  return job.state == state::kFailed ? "failed" : "cancelled";
}

Json result_of(const Job& job, const Services& services) {
  if (!job.item) return nullptr;
  auto urls = Json::array();
  const auto item = services.library.get(*job.item);
  for (const auto& file : item["files"]) {
    const auto type = file["type"].get<std::string>();
    if (type.starts_with("audio/")) urls.push_back(file["url"]);
  }
  return {{"audioUrls", std::move(urls)}, {"songId", item["id"]}, {"title", item["title"]}};
}

Json status_json(const Job& job, const Services& services) {
  const auto own = services.jobs.json(job);
  const auto& progress = own["progress"];
  Json json = {{"jobId", own["id"]},
               {"status", aceforge_state(job)},
               {"queuePosition", own["position"].is_null() ? Json(0) : own["position"]}};
  const bool known = progress.is_object() && progress["fraction"].is_number();
  const double share = job.state == state::kSucceeded ? 1
                       : known                        ? progress["fraction"].get<double>()
                                                      : 0;
  json["progressPercent"] = static_cast<std::int64_t>(std::floor(100 * share));
  json["progressSteps"] = known ? Json(fmt::format("{}/{}", progress["step"].get<std::int64_t>(),
                                                   progress["steps"].get<std::int64_t>()))
                                : Json(nullptr);
  json["progressStage"] = progress.is_object() ? progress["stage"] : Json(nullptr);
  json["etaSeconds"] = progress.is_object() ? progress["eta_s"] : Json(nullptr);
  json["result"] = result_of(job, services);
  json["error"] = job.error_message.empty() ? Json(nullptr) : Json(job.error_message);
  return json;
}

Job song_job(const Request& request, const Services& services) {
  return services.jobs.get(id_in_path(request, "id", "job"));
}

Response generate(const Request& request, Services& services) {
  std::random_device device;
  const auto wanted = job_of_aceforge(request.json(), names_of(services), device() & 0x7FFFFFFFU);
  const auto refuse_text = [](const std::string&, const std::string&) { return std::string(); };
  const auto asked =
      read_request(wanted, services.table, {.text = refuse_text},
                   [&](const std::string& text) { services.references.resolve(text); });
  const auto& row = services.table.find(asked.verb, asked.family, asked.name);
  const auto added = services.jobs.add(asked, lane_of(asked, row, services.usual_lane()), "");
  const auto status = status_json(added.job, services);
  return json_answer({{"jobId", status["jobId"]},
                      {"status", status["status"]},
                      {"queuePosition", status["queuePosition"]}});
}

Response cancel_song(const Request& request, Services& services) {
  const auto job = services.jobs.cancel(song_job(request, services).id);
  const bool running = job.state == state::kRunning;
  return json_answer({{"cancelled", true},
                      {"message", running ? "it stops at its next step" : "it will not start"}});
}

Response upload_clip(const Request& request, Services& services) {
  const auto is_clip = [](const ReceivedFile& file) {
    return file.field == "audio" || file.field == "file";
  };
  const auto file = std::ranges::find_if(request.files, is_clip);
  check(file != request.files.end(), ErrorKind::Usage,
        "[serve.generate] no file; expected multipart/form-data with a field \"audio\".");
  const auto upload = services.uploads.take(*file);
  if (upload.type != "sound") {
    services.uploads.remove(upload.id);
    refuse(415, "input",
           fmt::format("[serve.generate] '{}' is no sound.", printable(file->name, 80)));
  }
  return json_answer({{"url", "/api/uploads/" + upload.id}, {"key", "upload:" + upload.id}});
}

Response history(Services& services) {
  auto jobs = Json::array();
  const auto found = services.jobs.list({.most = kHistory, .verb = "run", .family = "acestep"});
  for (const auto& job : found) {
    auto entry = status_json(job, services);
    entry["params"] = request_json(job.request)["options"];
    entry["created_at"] = job.created;
    jobs.push_back(std::move(entry));
  }
  return json_answer({{"jobs", std::move(jobs)}});
}

}  // namespace

Handler in_aceforge_form(Handler handler) {
  return [handler = std::move(handler)](const Request& request) {
    try {
      return handler(request);
    } catch (...) {
      auto answer = answer_of_exception();
      const auto message = Json::parse(answer.body)["error"]["message"];
      answer.body = json_text({{"error", message}}) + "\n";
      return answer;
    }
  };
}

void add_generate_routes(Router& router, Services& services) {
  const RouteRules foreign{.foreign = true}, clip{.foreign = true, .uploads = true};
  const auto add = [&](const char* method, const char* pattern, Handler handler,
                       const RouteRules& rules) {
    router.add(method, pattern, in_aceforge_form(std::move(handler)), rules);
  };
  add(
      "POST", "/api/generate", [&](const Request& r) { return generate(r, services); }, foreign);
  add("GET", "/api/generate/status/{id}",
      [&](const Request& r) { return json_answer(status_json(song_job(r, services), services)); },
      {});
  add(
      "POST", "/api/generate/cancel/{id}",
      [&](const Request& r) { return cancel_song(r, services); }, foreign);
  add(
      "POST", "/api/generate/upload-audio",
      [&](const Request& r) { return upload_clip(r, services); }, clip);
  add("GET", "/api/generate/history", [&](const Request&) { return history(services); }, {});
  add("GET", "/api/generate/health",
      [](const Request&) {
        return json_answer({{"healthy", true}});
      },
      {});
}

}  // namespace ubique::serve
