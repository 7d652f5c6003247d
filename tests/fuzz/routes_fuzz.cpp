// SPDX-License-Identifier: Apache-2.0
// Any bytes as requests to the studio, from the connection to the database: an answer that is no
// failure of the server, with the headers that every answer has.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/fuzz/fuzz.h"
#include "tests/serve/table.h"
#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/serve/openai/routes.h"
#include "ubique/serve/studio.h"

using namespace ubique;
using fuzz::require;

namespace {

namespace fs = std::filesystem;

constexpr int kInputsUntilFresh = 200;  // lists of what earlier inputs made must not get long

fs::path made_folder() {
  std::string name = (fs::temp_directory_path() / "ubique-routes-XXXXXX").string();
  require(::mkdtemp(name.data()) != nullptr);
  return name;
}

/// A studio without workers, with one item and one music model.
class FuzzedStudio {
 public:
  FuzzedStudio() : folder_(made_folder()), studio_(settings(), parts()) {
    log::configure(log::Level::Quiet);
    auto& services = studio_.services();
    services.database.script("PRAGMA synchronous = OFF");
    write_file(services.folders.models / "net.song", "x");
    make_folder(services.folders.result(1));
    write_file(services.folders.result(1) / "song.wav", "RIFF\1\1\1\1WAVE");
    write_file(services.folders.result(1) / "job.json", "{}");
    // Event streams go round as if something happened all the time, and end soon.
    ticker_ = std::thread([this] {
      while (!ends_) {
        studio_.services().events.notify();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~FuzzedStudio() {
    ends_ = true;
    ticker_.join();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string answer(const std::string& bytes) {
    if (inputs_++ % kInputsUntilFresh == 0) make_fresh();
    return studio_.answer_bytes(bytes);
  }
  const std::vector<serve::Router::Route>& routes() const { return studio_.router().routes(); }

 private:
  void make_fresh() {
    auto& services = studio_.services();
    for (const auto* table : {"playlist_items", "items", "jobs", "playlists", "uploads", "presets",
                              "models", "events"}) {
      services.database.run(std::string("DELETE FROM ") + table);
    }
    services.database.run("DELETE FROM sqlite_sequence");
    services.uploads.clean();
    const serve::JobRequest request{
        .verb = "run", .family = "acestep", .model = "model:data/net.song"};
    const auto id = services.jobs.add(request, "cpu", "").job.id;
    services.jobs.start(id);
    services.jobs.end(id, {.state = "succeeded", .item = id},
                      [&] { services.library.add(services.jobs.get(id), "song"); });
    services.jobs.add(request, "cpu", "");
  }
  serve::StudioSettings settings() const {
    serve::StudioSettings settings;
    settings.port = 0;
    settings.data = folder_;
    settings.allowed = {folder_ / "models"};
    make_folder(folder_ / "models");
    settings.program = "/nowhere/ubique";
    settings.changes_per_second = settings.changes_at_once = 1e12;
    settings.upload_bytes = 2000;
    settings.workers = false;
    return settings;
  }
  serve::StudioParts parts() {
    return {.commands = test::test_rows(),
            .recognize = [](const fs::path&) { return std::string("acestep"); },
            .more_routes = [this](serve::Router& router,
                                  serve::Services&) { add_openai_routes(router, pool_); }};
  }

  fs::path folder_;
  serve::ModelPool pool_{{.program = "/nowhere/ubique",
                          .logs = folder_,
                          .list = [] { return std::vector<serve::OpenModel>(); },
                          .memory_bytes = 1 << 30}};
  serve::Studio studio_;
  std::atomic<bool> ends_ = false;
  std::thread ticker_;
  int inputs_ = 0;
};

FuzzedStudio& studio() {
  static FuzzedStudio made;
  return made;
}

/// Up to the next line end.
std::string_view take_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  const auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

/// What stands in a path for a route's {name}: an id that is there, or the input's own words.
std::string filled(const std::string& pattern, std::string_view words) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '{') {
      path += pattern[at++];
      continue;
    }
    path += words.empty() ? "1" : std::string(words);
    at = pattern.find('}', at) + 1;
  }
  return path;
}

/// The input as a request that a route understands: two bytes choose it, a line fills its path, a
/// line is its query, a line a header; the rest is the body.
std::string made_request(std::string_view rest) {
  const auto byte = [&] {
    const auto value = rest.empty() ? '\0' : rest.front();
    rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
    return static_cast<unsigned char>(value);
  };
  const auto& routes = studio().routes();
  const auto& route = routes[byte() % routes.size()];
  const bool multipart = byte() % 4 == 0;
  auto text = route.method + " " + filled(route.pattern, take_line(rest));
  if (const auto query = take_line(rest); !query.empty()) text += "?" + std::string(query);
  text += " HTTP/1.1\r\nHost: localhost\r\nX-Ubique: 1\r\n";
  if (const auto header = take_line(rest); !header.empty()) text += std::string(header) + "\r\n";
  auto body = std::string(rest);
  if (multipart) {
    text += "Content-Type: multipart/form-data; boundary=x\r\n";
    body = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n" +
           body + "\r\n--x--\r\n";
  }
  const bool has_body = route.method != "GET";
  if (has_body) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + (has_body ? body : "");
}

void check_answer(std::string_view answer) {
  if (answer.empty()) return;  // the client would see a closed connection
  constexpr std::string_view kStart = "HTTP/1.1 ";
  require(answer.starts_with(kStart) && answer.size() > kStart.size() + 3);
  require(answer.substr(kStart.size(), 3) != "500");
  require(answer.find("X-Content-Type-Options: nosniff\r\n") != std::string_view::npos ||
          answer.starts_with("HTTP/1.1 100"));
}

}  // namespace

void fuzz::test_input(std::span<const std::byte> input) {
  auto bytes = fuzz::text_of(input);
  if (bytes.empty()) return;
  const bool raw = bytes.front() == 'R';
  bytes.remove_prefix(1);
  check_answer(studio().answer(raw ? std::string(bytes) : made_request(bytes)));
}
