// SPDX-License-Identifier: Apache-2.0
// The studio's server as a whole: the data folder, the queue with its workers, the routes, the
// pages.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ubique/serve/http/listener.h"
#include "ubique/serve/jobs/commands.h"
#include "ubique/serve/library/models.h"
#include "ubique/serve/services/services.h"

namespace ubique::serve {

struct StudioSettings {
  std::string host = "127.0.0.1";
  int port = 7870;
  std::filesystem::path data;
  std::string token;                           ///< empty: one is made where it is needed
  std::vector<std::string> names;              ///< names by which the server may be called
  std::vector<std::filesystem::path> allowed;  ///< folders that jobs may read
  std::string version, program;
  std::vector<std::pair<std::string, std::string>> families;
  std::int64_t upload_bytes = 2LL << 30U;
  double changes_per_second = 100, changes_at_once = 1000;
  int event_streams = 100;
  bool workers = true;  ///< false: jobs are kept, none runs (tests)
};

/// What is known of the families; the room itself reaches none.
struct StudioParts {
  std::vector<CommandRow> commands;
  RecognizeFamily recognize = {};
  MoreModels more_models = {};
  /// Adds routes of other rooms.
  std::function<void(Router&, Services&)> more_routes = {};
  bool has_openai = false;
};

class Studio {
 public:
  /// Opens the data folder, mends what a kill left, and binds the port. If another server has the
  /// folder open, other_address() tells where, and nothing else was done.
  Studio(StudioSettings settings, StudioParts parts);
  ~Studio();

  std::optional<std::string> other_address() const;
  std::string address() const;  ///< "http://127.0.0.1:7870"
  std::string token() const;    ///< empty: none is needed
  bool token_is_new() const;    ///< it was made now: print it
  int port() const;
  const Router& router() const;
  /// What would be sent for requests that lie in memory: for tests.
  std::string answer_bytes(std::string_view requests);
  Services& services();

  void run();   ///< serves until stop()
  void stop();  ///< from any thread

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace ubique::serve
