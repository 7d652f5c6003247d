// SPDX-License-Identifier: Apache-2.0
// Loading, and what has to leave for it.
#include "ubique/serve/openai/model_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ubique/base/files/file.h"
#include "ubique/base/terminal/log.h"
#include "ubique/base/text/printable.h"
#include "ubique/base/text/text.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

/// Bytes of the weights below a path: what a model takes at least.
std::int64_t weight_bytes(const fs::path& path) {
  std::int64_t bytes = 0;
  std::error_code error;
  if (fs::is_regular_file(path, error))
    return static_cast<std::int64_t>(fs::file_size(path, error));
  for (fs::recursive_directory_iterator it(path, error), end; it != end; it.increment(error)) {
    if (error) break;
    std::error_code ignored;
    if (it->path().extension() != ".safetensors" || !it->is_regular_file(ignored)) continue;
    const auto size = it->file_size(ignored);
    if (!ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

/// A file's name for a model's log.
std::string log_name(const std::string& id) {
  auto name = id;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  return "model-" + name.substr(0, 100) + ".log";
}

std::int64_t memory_of(const Json& facts, std::int64_t expected) {
  return facts.is_object() ? facts.value("memory_bytes", expected) : expected;
}

}  // namespace

ModelPool::ModelPool(PoolSettings settings) : settings_(std::move(settings)) {
  make_folder(settings_.logs);
  caretaker_ = std::thread([this] { look_after(); });
}

ModelPool::~ModelPool() {
  {
    const std::lock_guard lock(mutex_);
    left_ = true;
    leaving_.notify_all();
  }
  caretaker_.join();
}

std::vector<OpenModel> ModelPool::list() const { return settings_.list(); }

OpenModel ModelPool::find(const std::string& id) const {
  const auto models = list();
  const auto found = std::ranges::find(models, id, &OpenModel::id);
  if (found != models.end()) return *found;
  std::vector<std::string> known;
  for (const auto& model : models) known.push_back(model.id);
  throw OpenAiError(
      404, "invalid_request_error",
      fmt::format(
          "[serve.openai] there is no model '{}'; expected one of {}.{}", printable(id, 100),
          known.empty() ? "none: pull one or train one first" : join(known, ", "), hint(id, known)),
      "model", "model_not_found");
}

void ModelPool::publish(const std::string& id, const char* state, const std::string& message,
                        std::int64_t bytes) const {
  if (!settings_.publish) return;
  Json event = {{"id", id}, {"state", state}};
  if (bytes > 0) event["memory_bytes"] = bytes;
  if (!message.empty()) event["message"] = message;
  try {
    settings_.publish(event);
  } catch (const std::exception& error) {  // a full disk: models are served all the same
    log::warn_once("serve.openai.publish", error.what());
  }
}

/// With the mutex held: ends models that are not in use, the one unused for longest first.
void ModelPool::make_room(std::int64_t bytes) {
  for (;;) {
    std::int64_t taken = 0;
    auto oldest = loaded_.end();
    for (auto it = loaded_.begin(); it != loaded_.end(); ++it) {
      const auto& [worker, expected] = it->second;
      taken += memory_of(worker->facts(), expected);
      const bool loading = worker->state() == ModelWorker::State::Loading;
      if (loading || worker->active() > 0) continue;
      if (oldest == loaded_.end() ||
          worker->idle_seconds() > oldest->second.worker->idle_seconds()) {
        oldest = it;
      }
    }
    const bool room = settings_.memory_bytes <= 0 || taken + bytes <= settings_.memory_bytes;
    const bool fits = room && loaded_.size() < std::max<std::size_t>(settings_.most_models, 1);
    if (fits || loaded_.empty()) return;  // alone, its own plan says whether it fits
    if (oldest == loaded_.end()) {
      throw OpenAiError(
          503, "server_error",
          fmt::format("[serve.openai] no memory for another model; got {} in use, "
                      "expected {} free of {}. Try again when fewer models are in "
                      "use.",
                      human_bytes(taken), human_bytes(bytes), human_bytes(settings_.memory_bytes)),
          "model", "models_in_use");
    }
    publish(oldest->first, "unloaded", "another model needs its memory");
    loaded_.erase(oldest);
  }
}

/// With the mutex held.
std::shared_ptr<ModelWorker> ModelPool::start(const OpenModel& model) {
  const auto expected = weight_bytes(model.path) / 10 * 12 + (std::int64_t{256} << 20U);
  make_room(expected);
  LinkPlan plan{.words = {settings_.program, "run", "codelm", "--worker", "--model",
                          model.path.string(), "--slots", std::to_string(settings_.slots)},
                .log = settings_.logs / log_name(model.id)};
  plan.words.insert(plan.words.end(), settings_.options.begin(), settings_.options.end());
  auto worker = std::make_shared<ModelWorker>(plan);
  loaded_[model.id] = {worker, expected};
  publish(model.id, "loading");
  return worker;
}

std::shared_ptr<ModelWorker> ModelPool::get(const std::string& id) {
  const auto model = find(id);
  std::shared_ptr<ModelWorker> worker;
  {
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.find(id);
    if (found != loaded_.end() && found->second.worker->state() != ModelWorker::State::Gone) {
      worker = found->second.worker;
    } else {
      if (found != loaded_.end()) loaded_.erase(found);
      worker = start(model);
    }
    worker->touch();
  }
  wait_until_ready(id, worker);
  return worker;
}

void ModelPool::wait_until_ready(const std::string& id,
                                 const std::shared_ptr<ModelWorker>& worker) {
  if (worker->state() == ModelWorker::State::Ready) return;
  const std::chrono::milliseconds most(static_cast<std::int64_t>(settings_.loading_seconds * 1000));
  const auto state = worker->wait(most);
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(id);
  const bool ours = found != loaded_.end() && found->second.worker == worker;
  if (state == ModelWorker::State::Ready) {
    worker->touch();
    if (ours) publish(id, "ready", {}, memory_of(worker->facts(), 0));
    return;
  }
  if (ours) loaded_.erase(found);
  const auto why = state == ModelWorker::State::Loading ? "it takes too long" : worker->ended();
  publish(id, "failed", why);
  throw OpenAiError(503, "server_error",
                    fmt::format("[serve.openai] the model '{}' cannot be loaded: {}",
                                printable(id, 100), printable(why, 600)),
                    "model", "model_not_loaded");
}

void ModelPool::check_queue(const ModelWorker& worker, std::size_t choices) const {
  const auto would = static_cast<std::int64_t>(worker.active() + choices);
  if (would <= settings_.slots + settings_.most_waiting) return;
  throw OpenAiError(429, "rate_limit_error",
                    fmt::format("[serve.openai] too many requests wait for this model; got {}, "
                                "expected at most {}. Try again shortly.",
                                would, settings_.slots + settings_.most_waiting),
                    {}, "rate_limit_exceeded");
}

Json ModelPool::loaded() const {
  const std::lock_guard lock(mutex_);
  auto json = Json::object();
  for (const auto& [id, each] : loaded_) {
    const auto state = each.worker->state();
    json[id] = {{"state", state == ModelWorker::State::Ready     ? "ready"
                          : state == ModelWorker::State::Loading ? "loading"
                                                                 : "gone"},
                {"memory_bytes", memory_of(each.worker->facts(), each.expected_bytes)},
                {"active", each.worker->active()}};
  }
  return json;
}

/// What is being answered by such a model is answered to its end.
void ModelPool::unload_removed() {
  {
    const std::lock_guard lock(mutex_);
    if (loaded_.empty()) return;
  }
  const auto models = list();
  std::vector<std::shared_ptr<ModelWorker>> ending;  // outlives the lock
  const std::lock_guard lock(mutex_);
  for (auto it = loaded_.begin(); it != loaded_.end();) {
    const bool listed = std::ranges::find(models, it->first, &OpenModel::id) != models.end();
    if (listed || it->second.worker->active() > 0) {
      ++it;
      continue;
    }
    publish(it->first, "unloaded", "it was removed");
    ending.push_back(it->second.worker);
    it = loaded_.erase(it);
  }
}

/// Processes end outside of the lock: each may take a moment.
void ModelPool::unload_idle() {
  std::vector<std::shared_ptr<ModelWorker>> ending;
  const std::lock_guard lock(mutex_);
  for (auto it = loaded_.begin(); it != loaded_.end();) {
    const auto& worker = it->second.worker;
    const bool gone = worker->state() == ModelWorker::State::Gone;
    const bool idle = settings_.idle_seconds > 0 && worker->idle_seconds() > settings_.idle_seconds;
    if (!gone && (!idle || worker->state() == ModelWorker::State::Loading)) {
      ++it;
      continue;
    }
    publish(it->first, "unloaded", gone ? worker->ended() : "nobody has used it for a while");
    ending.push_back(worker);
    it = loaded_.erase(it);
  }
}

void ModelPool::look_after() {
  std::unique_lock lock(mutex_);
  for (int turn = 1; !left_; ++turn) {
    leaving_.wait_for(lock, std::chrono::milliseconds(500), [this] { return left_; });
    lock.unlock();
    try {
      unload_idle();
      if (turn % 4 == 0) unload_removed();
    } catch (const std::exception& error) {
      log::warn_once("serve.openai.caretaker", error.what());
    }
    lock.lock();
  }
}

}  // namespace ubique::serve
