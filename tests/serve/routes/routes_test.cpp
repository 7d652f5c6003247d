// SPDX-License-Identifier: Apache-2.0
// The routes of the API, in process.
#include "ubique/serve/routes/routes.h"

#include <doctest/doctest.h>

#include "tests/serve/studio.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;
using test::TestStudio;

namespace {

const Json kSynth = {{"verb", "data"}, {"family", "meshnet"}, {"name", "synth"}};

struct SentEvent {
  std::string kind, data;
  std::int64_t number = 0;
};

/// The events of a stream until `most` of those with a number came.
std::vector<SentEvent> events_of(const Response& response, std::size_t most) {
  REQUIRE(response.stream);
  std::string text;
  std::vector<SentEvent> events;
  std::size_t numbered = 0;
  const Send send = [&](std::string_view bytes) {
    text += bytes;
    for (auto end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n")) {
      SentEvent event;
      for (std::size_t at = 0; at < end;) {
        const auto stop = std::min(text.find('\n', at), end);
        const auto line = text.substr(at, stop - at);
        if (line.starts_with("event: ")) event.kind = line.substr(7);
        if (line.starts_with("data: ")) event.data = line.substr(6);
        if (line.starts_with("id: ")) event.number = std::stoll(line.substr(4));
        at = stop + 1;
      }
      text.erase(0, end + 2);
      if (event.kind.empty()) continue;
      numbered += event.number > 0 ? 1 : 0;
      events.push_back(event);
    }
    return true;
  };
  int rounds = 0;
  response.stream->write(send, [&] { return numbered < most && ++rounds < 200; });
  return events;
}

std::vector<std::int64_t> numbers_of(const std::vector<SentEvent>& events) {
  std::vector<std::int64_t> numbers;
  for (const auto& event : events) {
    if (event.number > 0) numbers.push_back(event.number);
  }
  return numbers;
}

}  // namespace

TEST_CASE("routes: a job is asked for, found, moved, stopped and forgotten") {
  TestStudio studio;
  const auto job = studio.json("POST", "/api/jobs", kSynth, 201);
  const auto address = "/api/jobs/" + job["id"].get<std::string>();
  CHECK(job["state"] == "queued");
  CHECK(job["command"] == "ubique data meshnet synth -o out --json");
  CHECK(studio.json("GET", address) == job);
  CHECK(studio.json("GET", "/api/queue")["queued"] == Json::array({job["id"]}));
  CHECK(studio.json("PATCH", address, {{"priority", 3}, {"title", "mine"}})["title"] == "mine");
  CHECK(studio.json("POST", address + "/pause")["state"] == "paused");
  CHECK(studio.json("POST", address + "/resume")["state"] == "queued");
  CHECK(studio.json("DELETE", address, nullptr, 409)["error"]["kind"] == "conflict");
  CHECK(studio.json("POST", address + "/cancel")["state"] == "cancelled");
  CHECK(studio.json("POST", address + "/cancel", nullptr, 409)["error"]["kind"] == "conflict");
  CHECK(studio.json("DELETE", address)["deleted"] == true);
  CHECK(studio.json("GET", address, nullptr, 404)["error"]["kind"] == "missing");
}

TEST_CASE("routes: absurd changes of a job are refused and change nothing") {
  TestStudio studio;
  studio.json("POST", "/api/jobs", kSynth, 201);
  for (const auto& change :
       {Json{{"priority", 101}}, Json{{"priority", -2147483648LL}}, Json{{"priority", 1e300}},
        Json{{"priority", 4294967297LL}}, Json{{"priority", "high"}}, Json{{"title", 3}},
        Json{{"title", std::string(401, 'x')}}, Json{{"before", 1}}, Json{{"colour", "red"}}}) {
    const auto answer = studio.ask("PATCH", "/api/jobs/1", change);
    CHECK_MESSAGE(answer.status == 422, json_text(change) << ": " << answer.body);
  }
  CHECK(studio.json("GET", "/api/jobs/1")["priority"] == 0);
  for (const auto* id : {"0", "-1", "x", "99999999999999999999", "1.0", "%31"}) {
    CHECK(studio.ask("GET", std::string("/api/jobs/") + id).status == 404);
  }
}

TEST_CASE("routes: on a full disk a request is refused with 507, and those before it are kept") {
  TestStudio studio;
  auto& database = studio.services().database;
  const auto pages = database.row("PRAGMA page_count")->number("page_count");
  database.script("PRAGMA max_page_count = " + std::to_string(pages));
  std::size_t taken = 0;
  auto answer = studio.ask("POST", "/api/jobs", kSynth);
  for (; answer.status == 201 && taken < 1000; ++taken) {
    answer = studio.ask("POST", "/api/jobs", kSynth);
  }
  CHECK(answer.status == 507);
  CHECK(Json::parse(answer.body)["error"]["kind"] == "limit");
  CHECK(studio.json("GET", "/api/jobs?limit=500")["jobs"].size() == taken);
  database.script("PRAGMA max_page_count = 100000");
  CHECK(studio.ask("POST", "/api/jobs", kSynth).status == 201);
}

TEST_CASE("routes: lists come in pages that miss nothing") {
  TestStudio studio;
  for (int i = 0; i < 7; ++i) studio.json("POST", "/api/jobs", kSynth, 201);
  std::vector<std::string> ids;
  std::string after;
  for (int page = 0; page < 10; ++page) {
    const auto got = studio.json("GET", "/api/jobs?limit=3&after=" + after);
    for (const auto& job : got["jobs"]) ids.push_back(job["id"]);
    if (got["next"].is_null()) break;
    after = got["next"];
  }
  CHECK(ids == std::vector<std::string>{"7", "6", "5", "4", "3", "2", "1"});
  CHECK(studio.json("GET", "/api/jobs?state=running,paused")["jobs"].empty());
  CHECK(studio.json("GET", "/api/jobs?state=queued,queued&limit=500")["jobs"].size() == 7);
  CHECK(studio.ask("GET", "/api/jobs?limit=501").status == 422);
  CHECK(studio.ask("GET", "/api/jobs?state=dancing").status == 422);
}

TEST_CASE("routes: a repeated request with a key answers with the first job") {
  TestStudio studio;
  const auto first = studio.ask("POST", "/api/jobs", kSynth, {{"Idempotency-Key", "k"}});
  const auto again = studio.ask("POST", "/api/jobs", kSynth, {{"Idempotency-Key", "k"}});
  CHECK(first.status == 201);
  CHECK(again.status == 200);
  CHECK(Json::parse(first.body)["id"] == Json::parse(again.body)["id"]);
  const Headers long_key = {{"Idempotency-Key", std::string(201, 'k')}};
  CHECK(studio.ask("POST", "/api/jobs", kSynth, long_key).status == 422);
}

TEST_CASE("routes: an event stream that begins again misses nothing and repeats nothing") {
  TestStudio studio;
  for (int i = 0; i < 6; ++i) studio.json("POST", "/api/jobs", kSynth, 201);
  using Numbers = std::vector<std::int64_t>;
  CHECK(numbers_of(events_of(studio.ask("GET", "/api/events?after=0"), 6)) ==
        Numbers{1, 2, 3, 4, 5, 6});
  const auto later =
      events_of(studio.ask("GET", "/api/events", nullptr, {{"Last-Event-ID", "4"}}), 2);
  CHECK(numbers_of(later) == Numbers{5, 6});
  CHECK(Json::parse(later.front().data)["id"] == "5");
  // Without a number it begins now.
  const auto now = studio.ask("GET", "/api/events");
  studio.json("POST", "/api/jobs/1/cancel");
  CHECK(numbers_of(events_of(now, 1)) == Numbers{7});
}

TEST_CASE("routes: who wants events of another past is told to read everything again") {
  TestStudio studio;
  studio.json("POST", "/api/jobs", kSynth, 201);
  for (const auto* after : {"99", "-1", "x", "99999999999999999999"}) {
    const auto stream = studio.ask("GET", std::string("/api/events?after=") + after);
    studio.json("PATCH", "/api/jobs/1", {{"title", after}});
    const auto events = events_of(stream, 2);  // the reset has the number to go on from
    REQUIRE(events.size() >= 2);
    CHECK(events[0].kind == "reset");
    CHECK(events[1].kind == "job");
    CHECK(events[1].number == events[0].number + 1);
  }
}

TEST_CASE("routes: event streams beyond the limit are refused, and closed ones are not counted") {
  TestStudio studio;
  std::vector<Response> open;
  for (int i = 0; i < 3; ++i) open.push_back(studio.ask("GET", "/api/events"));
  const auto refused = studio.ask("GET", "/api/events");
  CHECK(refused.status == 503);
  CHECK(Json::parse(refused.body)["error"]["kind"] == "limit");
  CHECK(studio.services().figures.event_streams == 3);
  open.clear();
  CHECK(studio.services().figures.event_streams == 0);
  CHECK(studio.ask("GET", "/api/events").status == 200);
}

TEST_CASE("routes: an upload that a job needs stays until the job has ended") {
  TestStudio studio;
  const auto sent = studio.send("/api/uploads", "file", "x.txt", "1234\n4321\n");
  REQUIRE(sent.status == 201);
  const auto upload = Json::parse(sent.body);
  write_file(studio.services().folders.models / "net.song", "x");
  const auto job = studio.json("POST", "/api/jobs",
                               {{"verb", "run"},
                                {"family", "trm"},
                                {"inputs", Json::array({upload["ref"]})},
                                {"model", "model:data/net.song"}},
                               201);
  const auto address = "/api/uploads/" + upload["id"].get<std::string>();
  CHECK(studio.ask("DELETE", address).status == 409);
  studio.json("POST", "/api/jobs/" + job["id"].get<std::string>() + "/cancel");
  CHECK(studio.ask("DELETE", address).status == 200);
  CHECK(studio.ask("GET", address).status == 404);
  CHECK(studio
            .send("/api/uploads", "file", "x.png",
                  "\x7F"
                  "ELF")
            .status == 415);
  CHECK(studio.send("/api/uploads", "other", "x.txt", "text").status == 422);
  CHECK(studio.ask("POST", "/api/uploads").status == 422);
}

TEST_CASE("routes: files that could run in a browser are only saved, and all are sandboxed") {
  TestStudio studio;
  studio.json("POST", "/api/jobs", kSynth, 201);
  studio.finish(1, {{"page.html", "<script>"}, {"map.png", "x"}, {"a\"b.svg", "<svg>"}}, "data");
  const auto page = studio.ask("GET", "/api/library/1/files/page.html");
  CHECK(page.headers.at("Content-Disposition") == "attachment; filename=\"page.html\"");
  CHECK(page.headers.at("Content-Security-Policy") == "default-src 'none'; sandbox");
  CHECK(studio.ask("GET", "/api/library/1/files/a\"b.svg").headers.at("Content-Disposition") ==
        "attachment; filename=\"ab.svg\"");
  const auto picture = studio.ask("GET", "/api/library/1/files/map.png");
  CHECK(picture.type == "image/png");
  CHECK_FALSE(picture.headers.contains("Content-Disposition"));
  REQUIRE(picture.file);
  CHECK(picture.file->bytes == 1);
  CHECK(studio.ask("GET", "/api/library/1/files/../../studio.db").status == 404);
}

TEST_CASE("routes: an item is removed only when that was confirmed") {
  TestStudio studio;
  studio.json("POST", "/api/jobs", kSynth, 201);
  studio.finish(1, {{"a.txt", "x"}}, "data");
  CHECK(studio.json("PATCH", "/api/library/1", {{"liked", true}})["liked"] == true);
  CHECK(studio.json("GET", "/api/library?liked=true")["items"].size() == 1);
  CHECK(studio.ask("DELETE", "/api/library/1").status == 409);
  CHECK(studio.json("GET", "/api/library/1")["title"] == "data meshnet synth");
  CHECK(studio.ask("DELETE", "/api/library/1?confirm=yes").status == 200);
  CHECK(studio.ask("GET", "/api/library/1").status == 404);
  CHECK(studio.json("GET", "/api/jobs/1")["result"].is_null());
}

TEST_CASE("routes: shared folders show what is in them and nothing beside them") {
  TestStudio studio;
  write_file(studio.folder() / "sets" / "a.csv", "1,2");
  std::filesystem::create_directory_symlink("/", studio.folder() / "sets" / "root");
  const auto listed = studio.json("GET", "/api/folders/sets");
  CHECK(listed["entries"].size() == 2);
  CHECK(studio.ask("GET", "/api/folders/sets?path=..").status == 404);
  CHECK(studio.ask("GET", "/api/folders/sets?path=root").status == 404);
  CHECK(studio.ask("GET", "/api/folders/sets?path=/etc").status == 404);
  CHECK(studio.ask("GET", "/api/folders/other").status == 404);
}

TEST_CASE("routes: a plan takes names and numbers, never paths or flags") {
  TestStudio studio("/bin/echo");
  const auto plan = [&](const Json& body) {
    return studio.ask("POST", "/api/machine/plan", body).status;
  };
  CHECK(plan({{"family", "nothing"}}) == 422);
  for (const auto* machine : {"--help", "../x", "/etc/passwd", "a b", "", "a,b"}) {
    CHECK_MESSAGE(plan({{"family", "trm"}, {"on", Json::array({machine})}}) == 422, machine);
  }
  for (const auto& value :
       {Json("/etc/passwd"), Json(Json::array()), Json(std::string(300, 'x'))}) {
    CHECK(plan({{"family", "trm"}, {"options", {{"data", value}}}}) == 422);
  }
  CHECK(plan({{"family", "trm"}, {"options", {{"--help", 1}}}}) == 422);
  CHECK(plan({{"family", "trm"}, {"mode", "dance"}}) == 422);
}

TEST_CASE("routes: the session names the device that jobs run on, whatever it is") {
  test::ScratchFolder folder;
  const auto program = folder / "program";
  write_file(
      program,
      "#!/bin/sh\necho '{\"device\": {\"kind\": \"cuda\", \"index\": 1, \"name\": \"a card\"}}'\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  TestStudio studio(program.string());
  const auto device = studio.json("GET", "/api/session")["device"];
  CHECK(device["kind"] == "cuda");
  CHECK(device["name"] == "a card");
  CHECK(studio.services().usual_lane() == "cuda:1");
  TestStudio without;
  CHECK(without.json("GET", "/api/session")["device"]["kind"].is_null());
  CHECK(without.services().usual_lane() == "cpu");
}

TEST_CASE("routes: figures have Prometheus' form") {
  TestStudio studio;
  studio.json("POST", "/api/jobs", kSynth, 201);
  const auto answer = studio.ask("GET", "/metrics");
  CHECK(answer.type == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(contains(answer.body, "# TYPE ubique_jobs gauge\n"));
  CHECK(contains(answer.body, "ubique_jobs{state=\"queued\"} 1\n"));
  std::size_t at = 0;
  for (auto end = answer.body.find('\n'); end != std::string::npos;
       end = answer.body.find('\n', at)) {
    const auto line = answer.body.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("# TYPE ubique_")) continue;
    const auto space = line.rfind(' ');
    REQUIRE(space != std::string::npos);
    CHECK_MESSAGE(line.starts_with("ubique_"), line);
    CHECK_NOTHROW(std::stod(line.substr(space + 1)));
  }
  CHECK(at == answer.body.size());
  CHECK(studio.ask("GET", "/healthz").body == "ok\n");
}

TEST_CASE("routes: a stop that comes before the server listens is not forgotten") {
  TestStudio studio;
  studio.studio().stop();
  studio.studio().run();  // returns
  CHECK(studio.ask("GET", "/healthz").status == 200);
}

TEST_CASE("routes: a second server for a data folder does nothing but name the first") {
  TestStudio studio;
  StudioSettings settings;
  settings.port = 0;
  settings.data = studio.folder() / "data";
  const Studio second(settings, {});
  CHECK(second.other_address() == studio.studio().address());
}
