// SPDX-License-Identifier: Apache-2.0
// /api/uploads, and how files are answered.
#include <algorithm>

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/routes/routes.h"

namespace ubique::serve {
namespace {

/// Types that a browser may show under our address without running anything of the file.
bool is_shown(const std::string& type) {
  return type.starts_with("image/p") || type.starts_with("image/j") || type.starts_with("audio/") ||
         type.starts_with("video/") || type == "application/json" || type == "text/plain" ||
         type == "text/csv";
}

Response add_upload(const Request& request, Services& services) {
  const auto file = std::ranges::find(request.files, "file", &ReceivedFile::field);
  check(file != request.files.end(), ErrorKind::Usage,
        "[serve.upload] no file; expected multipart/form-data with a field \"file\".");
  return json_answer(services.uploads.take(*file).json(), 201);
}

Response remove_upload(const Request& request, Services& services) {
  const auto id = request.value("id");
  services.uploads.get(id);
  const auto open = services.jobs.list(
      {.states = {state::kQueued, state::kRunning, state::kPaused}, .most = 100000});
  for (const auto& job : open) {
    const auto used = references_of(job.request, services.table);
    if (std::ranges::find(used, "upload:" + id) == used.end()) continue;
    refuse(409, "conflict", fmt::format("[serve.upload] job {} still needs this file.", job.id));
  }
  services.uploads.remove(id);
  return json_answer({{"id", id}, {"deleted", true}});
}

}  // namespace

Response file_answer(const std::filesystem::path& path, const std::string& type,
                     const Request& request) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) missing("file", path.filename().string());
  Response response;
  response.type = type.starts_with("text/") ? type + "; charset=utf-8" : type;
  response.file = FileBody{.path = path, .bytes = static_cast<std::int64_t>(bytes)};
  if (request.asked("download") == "1" || !is_shown(type)) {
    auto name = path.filename().string();
    std::erase_if(name,
                  [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c > 0x7E; });
    response.headers["Content-Disposition"] = fmt::format("attachment; filename=\"{}\"", name);
  }
  // Even if one should be shown: it may neither run scripts nor reach us.
  response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox";
  return response;
}

void add_upload_routes(Router& router, Services& services) {
  router.add("POST", "/api/uploads", [&](const Request& r) { return add_upload(r, services); },
             {.uploads = true});
  router.add("GET", "/api/uploads/{id}", [&](const Request& r) {
    const auto upload = services.uploads.get(r.value("id"));
    return file_answer(upload.path, upload.mime, r);
  });
  router.add("DELETE", "/api/uploads/{id}",
             [&](const Request& r) { return remove_upload(r, services); });
}

}  // namespace ubique::serve
