// SPDX-License-Identifier: Apache-2.0
// A studio in a folder of its own whose workers are off; requests go straight to its router.
#pragma once

#include <doctest/doctest.h>

#include "tests/base/scratch.h"
#include "tests/serve/requests.h"
#include "tests/serve/table.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/serve/openai/routes.h"
#include "ubique/serve/studio.h"

namespace ubique::test {

class TestStudio {
 public:
  /// `program` answers `info --json` and the like; empty: there is none.
  explicit TestStudio(const std::string& program = "/nowhere/ubique")
      : studio_(settings(scratch_, program), parts()) {}

  serve::Response ask(const std::string& method, const std::string& address,
                      const Json& body = nullptr, serve::Headers headers = {}) {
    auto request = request_of(method, address, body.is_null() ? std::string() : json_text(body),
                              std::move(headers));
    return studio_.router().answer(request);
  }
  /// The JSON of an answer that must have this status.
  Json json(const std::string& method, const std::string& address, const Json& body = nullptr,
            int status = 200) {
    const auto answer = ask(method, address, body);
    CHECK_MESSAGE(answer.status == status, method << " " << address << ": " << answer.body);
    return Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  }
  /// Sends a file as the listener would have received it.
  serve::Response send(const std::string& address, const std::string& field,
                       const std::string& name, const std::string& bytes) {
    auto request = request_of("POST", address);
    const auto path = services().folders.temporary / "received";
    write_file(path, bytes);
    request.files.push_back({.field = field,
                             .name = name,
                             .type = "image/png",
                             .path = path,
                             .bytes = static_cast<std::int64_t>(bytes.size())});
    return studio_.router().answer(request);
  }
  /// Ends a job as its worker would, with these files.
  void finish(std::int64_t id, const std::map<std::string, std::string>& files,
              const std::string& kind) {
    auto& own = services();
    for (const auto& [name, bytes] : files) {
      const auto path = own.folders.result(id) / name;
      make_folder(path.parent_path());
      write_file(path, bytes);
    }
    own.jobs.start(id);
    own.jobs.end(id, {.state = "succeeded", .item = id},
                 [&] { own.library.add(own.jobs.get(id), kind); });
  }
  serve::Studio& studio() { return studio_; }
  serve::Services& services() { return studio_.services(); }
  const ScratchFolder& folder() const { return scratch_; }

 private:
  static serve::StudioSettings settings(const ScratchFolder& scratch, const std::string& program) {
    make_folder(scratch / "sets");
    serve::StudioSettings settings;
    settings.port = 0;
    settings.data = scratch / "data";
    settings.allowed = {scratch / "sets"};
    settings.version = "test";
    settings.program = program;
    settings.families = {{"trm", "puzzles"}};
    settings.event_streams = 3;
    settings.workers = false;
    return settings;
  }
  serve::StudioParts parts() {
    return {.commands = test_rows(),
            .recognize =
                [](const std::filesystem::path& path) {
                  return std::string(path.extension() == ".song" ? "acestep" : "");
                },
            .more_routes = [this](serve::Router& router,
                                  serve::Services&) { add_openai_routes(router, pool_); }};
  }

  ScratchFolder scratch_;
  serve::ModelPool pool_{{.program = "/nowhere/ubique",
                          .logs = scratch_.path(),
                          .list = [] { return std::vector<serve::OpenModel>(); },
                          .memory_bytes = 1 << 30}};
  serve::Studio studio_;
};

}  // namespace ubique::test
