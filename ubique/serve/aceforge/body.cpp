// SPDX-License-Identifier: Apache-2.0
// Key by key, with AceForge's own limits and usual values.
#include "ubique/serve/aceforge/body.h"

#include <algorithm>
#include <cmath>

#include "ubique/base/error.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

constexpr double kShortest = 15, kLongest = 240, kUsualSeconds = 60;
constexpr double kAceForgeShift = 6, kAceForgeFade = 0.5;
constexpr std::int64_t kMostSeeds = 1LL << 31U;

/// Reads values leniently: AceForge takes numbers as texts, and null as absent.
class Body {
 public:
  explicit Body(const Json& json) : json_(json) {
    check(json.is_object(), ErrorKind::Usage, "[serve.generate] the body; expected an object.");
  }

  std::string text(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return {};
    if (found->is_number()) return json_text(*found);
    if (!found->is_string()) wrong(key, *found, "a text");
    return std::string(trim(found->get<std::string>()));
  }

  std::string first_text(std::initializer_list<const char*> keys) const {
    for (const auto* key : keys) {
      if (auto found = text(key); !found.empty()) return found;
    }
    return {};
  }

  /// Within limits; AceForge cuts what lies outside.
  double number(const char* key, double usual, double least, double most) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return usual;
    const auto written = found->is_string() ? found->get<std::string>() : std::string();
    if (found->is_string() && written.empty()) return usual;
    auto read = parse_number(written);
    if (found->is_number()) read = found->get<double>();
    if (!read || !std::isfinite(*read)) wrong(key, *found, "a number");
    return std::clamp(*read, least, most);
  }

  std::int64_t whole(const char* key, double usual, double least, double most) const {
    return static_cast<std::int64_t>(std::llround(number(key, usual, least, most)));
  }

  bool flag(const char* key, bool usual) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null()) return usual;
    if (!found->is_boolean()) wrong(key, *found, "true or false");
    return found->get<bool>();
  }

  bool has(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

 private:
  [[noreturn]] static void wrong(const char* key, const Json& value, const char* expected) {
    fail(ErrorKind::Usage, "[serve.generate] '{}'; got {}, expected {}.", key,
         printable(json_text(value), 60), expected);
  }

  const Json& json_;
};

/// Style with what AceForge writes into it: speed, key, measure.
std::string tags_of(const Body& body) {
  const bool custom = body.flag("customMode", body.has("style"));
  auto parts = split(custom ? body.first_text({"style", "songDescription", "prompt"})
                            : body.first_text({"songDescription", "prompt", "style"}),
                     '\n');
  const auto bpm = body.number("bpm", 0, 0, 400);
  if (bpm > 0) parts.push_back(fmt::format("{} bpm", std::llround(bpm)));
  for (const auto* key : {"keyScale", "timeSignature"}) {
    if (auto text = body.text(key); !text.empty()) parts.push_back(std::move(text));
  }
  return join(parts, ", ");
}

class JobMaker {
 public:
  JobMaker(const Body& body, const AceForgeNames& names) : body_(body), names_(names) {}

  Json make(std::int64_t seed) {
    add_words();
    add_sampling(seed);
    add_task();
    if (const auto adapter = body_.text("loraNameOrPath"); !adapter.empty()) {
      options_["lora"] =
          fmt::format("{}:{}", names_.adapter(adapter), body_.number("loraWeight", 0.75, 0, 2));
    }
    Json job = {{"verb", "run"}, {"family", "acestep"}, {"model", names_.model()}};
    if (const auto title = body_.text("title"); !title.empty()) {
      job["title"] = printable(title, 200);
    }
    job["options"] = std::move(options_);
    return job;
  }

 private:
  void add_words() {
    if (const auto tags = tags_of(body_); !tags.empty()) options_["tags"] = tags;
    if (const auto avoid = body_.text("negativePrompt"); !avoid.empty()) {
      options_["negative_prompt"] = avoid;
    }
    const auto lyrics = body_.text("lyrics");
    if (body_.flag("instrumental", false)) {
      options_["instrumental"] = true;
    } else if (!lyrics.empty()) {
      options_["lyrics"] = lyrics;
    }
    if (const auto language = body_.text("vocalLanguage"); language.size() == 2) {
      options_["language"] = lowercase(language);
    }
  }

  void add_sampling(std::int64_t seed) {
    options_["steps"] = body_.whole("inferenceSteps", 65, 1, 100);
    options_["guidance"] = body_.number("guidanceScale", 4, 1, 30);
    options_["shift"] = kAceForgeShift;
    options_["fade_in"] = kAceForgeFade;
    options_["fade_out"] = kAceForgeFade;
    const auto given = body_.whole("seed", -1, -1, static_cast<double>(kMostSeeds));
    const bool any = body_.flag("randomSeed", given < 0) || given < 0;
    options_["seed"] = any ? seed : given;
    const auto count = body_.whole("batchSize", 1, 1, 4);
    if (count > 1) options_["variations"] = count;
  }

  void add_task() {
    const auto task = body_.text("taskType");
    if (task.empty() || task == "text2music") {
      options_["seconds"] = body_.number("duration", kUsualSeconds, kShortest, kLongest);
      return;
    }
    check(task == "retake" || task == "repaint" || task == "extend" || task == "cover" ||
              task == "audio2audio",
          ErrorKind::Usage,
          "[serve.generate] the task '{}' is not to be had; expected text2music, retake, repaint, "
          "extend, cover or audio2audio. (AceForge's lego, extract and complete are audio2audio "
          "with little of the clip: set audioCoverStrength.)",
          printable(task, 40));
    const auto url = body_.first_text({"sourceAudioUrl", "referenceAudioUrl"});
    check(!url.empty(), ErrorKind::Usage, "[serve.generate] '{}' needs sourceAudioUrl.", task);
    add_task_with_clip(task, names_.sound(url));
  }

  void add_task_with_clip(const std::string& task, const std::string& clip) {
    const auto settings = names_.settings(clip);
    if (task == "retake" && !settings.empty()) {
      options_["task"] = task;
      options_["from"] = settings;
      options_["variance"] = body_.number("retakeVariance", 0.2, 0, 1);
      options_["retake_seed"] = options_["seed"];
      options_.erase("seed");  // that of the song
      return;
    }
    options_["source"] = clip;
    if (task == "repaint") {
      options_["task"] = task;
      options_["start"] = body_.number("repaintingStart", 0, 0, kLongest);
      options_["end"] = body_.number("repaintingEnd", -1, -1, kLongest);
      options_["variance"] = body_.number("retakeVariance", 1, 0, 1);
    } else if (task == "extend") {
      add_extension(names_.seconds(clip));
    } else {  // also a retake of a clip that was not made here: only its sound is known
      const double usual = task == "audio2audio" ? 0.5 : 0.8;
      options_["task"] = "audio2audio";
      options_["strength"] = body_.number("audioCoverStrength", usual, 0, 0.99);
    }
  }

  /// The region reaches beyond the clip on one side or on both.
  void add_extension(double seconds) {
    const double start = body_.number("repaintingStart", 0, -kLongest, kLongest);
    const double end = body_.number("repaintingEnd", -1, -1, 2 * kLongest);
    const double left = std::max(0.0, -start), right = std::max(0.0, end - seconds);
    check(left > 0 || right > 0, ErrorKind::Usage,
          "[serve.generate] extend; got repaintingStart {} and repaintingEnd {}, expected a start "
          "below 0 or an end beyond the clip's {:.1f} s.",
          start, end, seconds);
    options_["task"] = "extend";
    options_["left"] = left;
    options_["right"] = right;
    options_["variance"] = 1;
  }

  const Body& body_;
  const AceForgeNames& names_;
  Json options_ = Json::object();
};

}  // namespace

Json job_of_aceforge(const Json& body, const AceForgeNames& names, std::int64_t seed) {
  const Body reader(body);
  return JobMaker(reader, names).make(seed);
}

}  // namespace ubique::serve
