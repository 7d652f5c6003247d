// SPDX-License-Identifier: Apache-2.0
// One line that a worker receives: what to complete and how, or what to give up. The form is in
// docs/reference/worker.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ubique/io/text/conversation.h"
#include "ubique/nn/decode/generate.h"

namespace ubique::codelm {

enum class WorkerOperation { Complete, Cancel, End };

struct WorkerRequest {
  WorkerOperation operation = WorkerOperation::Complete;
  std::string id;
  std::string prompt;
  std::optional<std::vector<std::int32_t>> tokens;  ///< the prompt as token ids
  std::optional<std::string> suffix;                ///< fill in what stands before this
  std::optional<std::vector<io::Turn>> turns;       ///< a conversation instead of a prompt
  std::optional<std::int64_t> max_tokens;           ///< none: until the context is full
  bool echo = false;                                ///< the prompt's text comes first
  nn::GenerateOptions generate;
};

/// Input error for what is no request; the id is known where it could be read (`id`).
WorkerRequest parse_worker_request(std::string_view line, std::string& id);

}  // namespace ubique::codelm
