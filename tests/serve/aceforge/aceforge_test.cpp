// SPDX-License-Identifier: Apache-2.0
// AceForge's bodies as jobs, and its routes.
#include <doctest/doctest.h>

#include "tests/serve/studio.h"
#include "ubique/serve/aceforge/body.h"

using namespace ubique;
using namespace ubique::serve;
using test::contains;
using test::TestStudio;

namespace {

/// The options of the job that a body asks for.
Json options_for(const Json& body) {
  const AceForgeNames names{.model = [] { return "model:m"; },
                            .adapter = [](const std::string& name) { return "model:" + name; },
                            .sound = [](const std::string& url) { return "at " + url; },
                            .settings =
                                [](const std::string& sound) {
                                  return contains(sound, "mine") ? sound + ".json" : std::string();
                                },
                            .seconds = [](const std::string&) { return 30.0; }};
  const auto job = job_of_aceforge(body, names, 777);
  CHECK(job["verb"] == "run");
  CHECK(job["model"] == "model:m");
  return job["options"];
}

std::string refusal_for(const Json& body) {
  return test::refusal_of(ErrorKind::Usage, [&] { options_for(body); });
}

/// A studio with a music model and, as item 1, a song.
struct MusicStudio : TestStudio {
  MusicStudio() { write_file(services().folders.models / "net.song", "x"); }
  void add_song() {
    const auto told = json("POST", "/api/generate", {{"songDescription", "slow funk"}});
    finish(std::stoll(told["jobId"].get<std::string>()),
           {{"song.wav", "RIFFdata"},
            {"song.json", "{}"},
            {"outcome.json", R"({"songs": [{"seconds": 12.5}]})"}},
           "song");
  }
};

}  // namespace

TEST_CASE("aceforge: a plain body becomes a song with AceForge's own settings") {
  const auto options = options_for({{"songDescription", "funk"}});
  CHECK(options == Json::parse(R"({"tags": "funk", "steps": 65, "guidance": 4.0, "shift": 6.0,
    "fade_in": 0.5, "fade_out": 0.5, "seed": 777, "seconds": 60.0})"));
}

TEST_CASE("aceforge: words, speed and key are put together as AceForge does") {
  const auto options = options_for({{"customMode", true},
                                    {"style", "jazz, piano"},
                                    {"songDescription", "not this"},
                                    {"lyrics", "[verse]\nla"},
                                    {"bpm", 110},
                                    {"keyScale", "C major"},
                                    {"negativePrompt", "drums"},
                                    {"vocalLanguage", "DE"},
                                    {"seed", "42"},
                                    {"randomSeed", false},
                                    {"batchSize", 3},
                                    {"somethingNew", {1, 2}}});
  CHECK(options["tags"] == "jazz, piano, 110 bpm, C major");
  CHECK(options["lyrics"] == "[verse]\nla");
  CHECK(options["negative_prompt"] == "drums");
  CHECK(options["language"] == "de");
  CHECK(options["seed"] == 42);
  CHECK(options["variations"] == 3);
  const auto instrumental = options_for({{"style", "x"}, {"instrumental", true}, {"lyrics", "la"}});
  CHECK(instrumental["instrumental"] == true);
  CHECK_FALSE(instrumental.contains("lyrics"));
}

TEST_CASE("aceforge: numbers are cut to AceForge's limits; what is none is refused") {
  CHECK(options_for({{"duration", 3}})["seconds"] == 15);
  CHECK(options_for({{"duration", 1e9}})["seconds"] == 240);
  CHECK(options_for({{"inferenceSteps", 1000}})["steps"] == 100);
  CHECK(options_for({{"seed", -1}})["seed"] == 777);
  CHECK(options_for({{"seed", ""}})["seed"] == 777);
  CHECK(options_for({{"seed", 5}})["seed"] == 5);
  CHECK(options_for({{"seed", 5}, {"randomSeed", true}})["seed"] == 777);
  CHECK(contains(refusal_for({{"duration", "long"}}), "'duration'; got \"long\""));
  CHECK(contains(refusal_for({{"instrumental", "yes"}}), "true or false"));
  CHECK(contains(refusal_for({{"style", Json::array()}}), "'style'"));
}

TEST_CASE("aceforge: tasks with a clip have their region, strength or settings") {
  const auto with = [](const char* task, Json more, const char* url = "clip") {
    more["taskType"] = task;
    more["sourceAudioUrl"] = url;
    return options_for(more);
  };
  const auto repaint = with("repaint", {{"repaintingStart", 5}});
  CHECK(repaint["source"] == "at clip");
  CHECK(repaint["start"] == 5);
  CHECK(repaint["end"] == -1);
  CHECK_FALSE(repaint.contains("seconds"));
  const auto extend = with("extend", {{"repaintingStart", -4}, {"repaintingEnd", 40}});
  CHECK(extend["left"] == 4);
  CHECK(extend["right"] == 10);
  CHECK(with("cover", Json::object())["strength"] == 0.8);
  CHECK(with("audio2audio", Json::object())["strength"] == 0.5);
  CHECK(with("audio2audio", {{"audioCoverStrength", 1}})["strength"] == 0.99);
  const auto retake = with("retake", {{"retakeVariance", 0.3}}, "mine");
  CHECK(retake["from"] == "at mine.json");
  CHECK(retake["variance"] == 0.3);
  CHECK(retake["retake_seed"] == 777);
  CHECK_FALSE(retake.contains("seed"));
  CHECK(with("retake", Json::object())["task"] == "audio2audio");
  CHECK(options_for({{"loraNameOrPath", "choir"}, {"loraWeight", 9}})["lora"] == "model:choir:2");
  CHECK(contains(refusal_for({{"taskType", "lego"}}), "is not to be had"));
  CHECK(contains(refusal_for({{"taskType", "repaint"}}), "needs sourceAudioUrl"));
  CHECK(contains(refusal_for({{"taskType", "extend"}, {"sourceAudioUrl", "x"}}),
                 "an end beyond the clip's 30.0 s"));
}

TEST_CASE("aceforge: a song is asked for, followed and cancelled") {
  MusicStudio studio;
  const auto told = studio.json("POST", "/api/generate", {{"songDescription", "slow funk"}});
  CHECK(told == Json::parse(R"({"jobId": "1", "status": "queued", "queuePosition": 1})"));
  CHECK(studio.json("GET", "/api/jobs/1")["request"]["model"] == "model:data/net.song");
  studio.services().jobs.start(1);
  studio.services().jobs.set_progress(1,
                                      {.stage = "diffusion", .step = 13, .steps = 65, .eta_s = 4});
  const auto now = studio.json("GET", "/api/generate/status/1");
  CHECK(now["status"] == "running");
  CHECK(now["progressPercent"] == 20);
  CHECK(now["progressSteps"] == "13/65");
  CHECK(now["progressStage"] == "diffusion");
  CHECK(now["etaSeconds"] == 4);
  CHECK(now["result"].is_null());
  CHECK(studio.json("POST", "/api/generate/cancel/1")["cancelled"] == true);
  studio.services().jobs.end(1, {.state = "cancelled"});
  CHECK(studio.json("GET", "/api/generate/status/1")["status"] == "cancelled");
  const auto again = studio.json("POST", "/api/generate/cancel/1", nullptr, 409);
  CHECK(contains(again["error"].get<std::string>(), "cannot be cancelled"));
  CHECK(studio.json("GET", "/api/generate/history")["jobs"][0]["params"]["tags"] == "slow funk");
}

TEST_CASE("aceforge: songs are listed, liked, renamed, found, played and removed") {
  MusicStudio studio;
  studio.add_song();
  const auto urls = studio.json("GET", "/api/generate/status/1")["result"]["audioUrls"];
  CHECK(urls == Json::array({"/api/library/1/files/song.wav"}));
  auto song = studio.json("GET", "/api/songs")["songs"][0];
  CHECK(song["duration"] == 12.5);
  CHECK(song["style"] == "slow funk");
  CHECK(studio.ask("GET", song["audioUrl"].get<std::string>()).type == "audio/wav");
  CHECK(studio.json("POST", "/api/songs/1/like")["liked"] == true);
  CHECK(studio.json("GET", "/api/songs/liked")["songs"].size() == 1);
  CHECK(studio.json("PATCH", "/api/songs/1", {{"title", "Mine"}})["song"]["title"] == "Mine");
  studio.json("POST", "/api/playlists", {{"name", "also mine"}}, 201);
  studio.json("POST", "/api/playlists", {{"name", "others"}}, 201);
  const auto found = studio.json("GET", "/api/search?q=mine");
  CHECK(found["songs"].size() == 1);
  REQUIRE(found["playlists"].size() == 1);
  CHECK(found["playlists"][0]["name"] == "also mine");
  CHECK(studio.json("GET", "/api/search?q=other")["songs"].empty());
  // A song of the library can be the clip of another.
  const auto cover = studio.json("POST", "/api/generate",
                                 {{"style", "x"},
                                  {"taskType", "retake"},
                                  {"sourceAudioUrl", "http://127.0.0.1:1/api/songs/1/audio"}});
  const auto request = studio.json("GET", "/api/jobs/" + cover["jobId"].get<std::string>());
  CHECK(request["request"]["options"]["from"] == "library:1/song.json");
  CHECK(studio.json("DELETE", "/api/songs/1")["success"] == true);
  CHECK(studio.json("GET", "/api/songs/1", nullptr, 404)["error"].is_string());
}

TEST_CASE("aceforge: clips are uploaded under its field's name, and nothing but sound") {
  MusicStudio studio;
  const auto sent = studio.send("/api/generate/upload-audio", "audio", "a.wav", "RIFF\1\1\1\1WAVE");
  CHECK(sent.status == 200);
  const auto url = Json::parse(sent.body)["url"].get<std::string>();
  const Json cover = {{"taskType", "cover"}, {"style", "x"}, {"sourceAudioUrl", url}};
  CHECK(studio.ask("POST", "/api/generate", cover).status == 200);
  CHECK(studio.send("/api/generate/upload-audio", "audio", "a.wav", "just words").status == 415);
  CHECK(
      studio
          .ask("POST", "/api/generate", {{"taskType", "cover"}, {"sourceAudioUrl", "/etc/passwd"}})
          .status == 422);
}

TEST_CASE("aceforge: without a music model it says so") {
  TestStudio studio;
  const auto told = studio.json("POST", "/api/generate", {{"style", "x"}}, 422);
  CHECK(contains(told["error"].get<std::string>(), "no music model yet"));
}
