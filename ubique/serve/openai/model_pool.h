// SPDX-License-Identifier: Apache-2.0
// The models that calls may name, and those of them that are loaded: each in a process of its own,
// ended when it was idle for long or when another needs its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ubique/serve/openai/call.h"
#include "ubique/serve/openai/model_worker.h"

namespace ubique::serve {

/// A model that a call may name.
struct OpenModel {
  std::string id;              ///< "OWNER/NAME", or the name of a run
  std::filesystem::path path;  ///< for --model
  std::int64_t created = 0;    ///< seconds since 1970
};

struct PoolSettings {
  std::string program;                           ///< path of this program
  std::vector<std::string> options = {};         ///< for `run codelm`: --device, --weights
  std::filesystem::path logs;                    ///< a folder
  std::function<std::vector<OpenModel>()> list;  ///< what there is now
  /// "model" events: {id, state: loading | ready | failed | unloaded, memory_bytes, message}.
  std::function<void(const Json&)> publish = {};
  std::int64_t slots = 16;          ///< texts at once, of each model
  std::int64_t most_waiting = 256;  ///< choices that wait for a slot, of each model
  std::int64_t memory_bytes = 0;    ///< for all loaded models; 0: no limit
  std::size_t most_models = 8;      ///< loaded at the same time
  double idle_seconds = 900;        ///< then a model is unloaded; 0: never
  double loading_seconds = 900;
};

class ModelPool {
 public:
  explicit ModelPool(PoolSettings settings);
  ~ModelPool();  ///< ends all processes
  ModelPool(const ModelPool&) = delete;
  ModelPool& operator=(const ModelPool&) = delete;

  std::vector<OpenModel> list() const;
  /// Throws OpenAiError 404 for a model that is not there.
  OpenModel find(const std::string& id) const;
  /// The loaded model, after loading it if need be. OpenAiError if it cannot be loaded, or if all
  /// memory is taken by models that are in use.
  std::shared_ptr<ModelWorker> get(const std::string& id);
  /// OpenAiError 429 if so many more choices would wait too long.
  void check_queue(const ModelWorker& worker, std::size_t choices) const;
  /// {id: {state, memory_bytes, active}} of those that are loaded.
  Json loaded() const;

 private:
  struct Loaded {
    std::shared_ptr<ModelWorker> worker;
    std::int64_t expected_bytes = 0;  // until it has told how many
  };

  std::shared_ptr<ModelWorker> start(const OpenModel& model);
  void make_room(std::int64_t bytes);
  void wait_until_ready(const std::string& id, const std::shared_ptr<ModelWorker>& worker);
  void publish(const std::string& id, const char* state, const std::string& message = {},
               std::int64_t bytes = 0) const;
  void unload_idle();
  void unload_removed();
  void look_after();

  PoolSettings settings_;
  mutable std::mutex mutex_;
  std::map<std::string, Loaded> loaded_;  // by id
  std::condition_variable leaving_;
  bool left_ = false;
  std::thread caretaker_;
};

}  // namespace ubique::serve
