// SPDX-License-Identifier: Apache-2.0
// What a job is asked to do: a row of the table with inputs, model and options, checked against it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ubique/base/text/json.h"
#include "ubique/serve/jobs/commands.h"

namespace ubique::serve {

struct JobRequest {
  std::string verb = {}, family = {}, name = {};
  std::vector<std::string> inputs = {};  ///< references
  std::string model = {};                ///< a reference; empty: none
  Json options = Json::object();         ///< key -> true, false, number, text or a list of them
  std::string title = {};
  int priority = 0;
};

/// What becomes of parts of a request that are no references yet; both return one.
struct Keep {
  /// Keeps a short text as a file.
  std::function<std::string(const std::string& name, const std::string& text)> text;
  /// Puts uploads beside each other in a folder.
  std::function<std::string(const std::vector<std::string>& references)> folder = {};
};
/// Input error for a reference to nothing.
using CheckReference = std::function<void(const std::string& reference)>;

/// Usage error that names the first thing that is wrong, with what may have been meant. Nothing is
/// kept before all else is checked.
JobRequest read_request(const Json& json, const CommandTable& table, const Keep& keep,
                        const CheckReference& check_reference);

/// A whole number of -100 to 100. Usage error for anything else.
int priority_of(const Json& json);

Json request_json(const JobRequest& request);
/// Of our own database: nothing is checked.
JobRequest stored_request(const Json& json);

/// References that the request names, of inputs, model and options.
std::vector<std::string> references_of(const JobRequest& request, const CommandTable& table);

/// "song: funk, 110 bpm": what a job is called unless it is given a title.
std::string usual_title(const JobRequest& request);

}  // namespace ubique::serve
