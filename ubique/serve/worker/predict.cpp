// SPDX-License-Identifier: Apache-2.0
// The plan of a training is made by the command itself, with the same words.
#include "ubique/serve/worker/predict.h"

#include "ubique/base/error.h"
#include "ubique/base/text/json.h"
#include "ubique/base/text/text.h"
#include "ubique/serve/jobs/command_line.h"
#include "ubique/serve/machine/ask.h"

namespace ubique::serve {
namespace {

namespace fs = std::filesystem;

constexpr double kDryRunSeconds = 120;

/// plan.memory.total of the document, whatever else is in it.
std::optional<std::int64_t> planned_bytes(const Json& document) {
  const auto plan = document.find("plan");
  if (plan == document.end() || !plan->is_object()) return std::nullopt;
  const auto memory = plan->find("memory");
  if (memory == plan->end() || !memory->is_object()) return std::nullopt;
  for (const auto* key : {"total_bytes", "total", "predicted_bytes"}) {
    const auto found = memory->find(key);
    if (found != memory->end() && found->is_number()) return found->get<std::int64_t>();
  }
  return std::nullopt;
}

std::int64_t weight_bytes(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored))
    return static_cast<std::int64_t>(fs::file_size(path, ignored));
  // A run has several checkpoints and what trains them; one model of it is read.
  const auto best = path / "checkpoints" / "best";
  const auto folder = fs::is_directory(best, ignored) ? best : path;
  std::int64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    const bool weights = entry.path().extension() == ".safetensors" ||
                         entry.path().extension() == ".bin" || entry.path().extension() == ".pt" ||
                         entry.path().extension() == ".gguf";
    if (weights && name != "trainer.safetensors" && entry.is_regular_file(ignored)) {
      bytes += static_cast<std::int64_t>(entry.file_size(ignored));
    }
  }
  return bytes;
}

}  // namespace

std::optional<std::int64_t> predicted_memory(const Job& job, Services& services) {
  try {
    const auto& request = job.request;
    const auto& row = services.table.find(request.verb, request.family, request.name);
    const auto resolve = [&](const std::string& reference) {
      return services.references.resolve(reference);
    };
    if (request.verb == "train") {
      auto words = command_words(request, row, resolve, false);
      words.pop_back();  // --json comes again
      words.emplace_back("--dry-run");
      return planned_bytes(ask_json(services.facts.program, words, kDryRunSeconds));
    }
    if (!request.model.empty()) return weight_bytes(resolve(request.model));
  } catch (const Error&) {  // the job itself will say what is wrong
  }
  return std::nullopt;
}

std::optional<LaneMemory> memory_of_lane(const std::string& lane, const Activity& activity) {
  constexpr std::string_view kCuda = "cuda:";
  if (lane.starts_with(kCuda)) {
    const auto number = parse_number(lane.substr(kCuda.size()));
    if (!number || *number < 0 || *number >= static_cast<double>(activity.gpus.size())) {
      return std::nullopt;
    }
    const auto& gpu = activity.gpus[static_cast<std::size_t>(*number)];
    return LaneMemory{gpu.memory_total - gpu.memory_used, gpu.memory_total};
  }
  if (activity.memory_total == 0) return std::nullopt;
  return LaneMemory{activity.memory_total - activity.memory_used, activity.memory_total};
}

}  // namespace ubique::serve
