// SPDX-License-Identifier: Apache-2.0
// docs/reference/api.yaml says what the server answers: the same routes, the same keys.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/serve/studio.h"
#include "ubique/base/text/text.h"
#include "ubique/base/text/yaml.h"

using namespace ubique;
using namespace ubique::serve;
using test::TestStudio;

namespace {

using Names = std::set<std::string>;

const YamlNode& below(const YamlNode& node, const std::string& key) {
  const auto found = std::ranges::find(node.keys, key);
  REQUIRE_MESSAGE(found != node.keys.end(), key);
  return node.items[static_cast<std::size_t>(found - node.keys.begin())];
}

YamlNode api_file() {
  const auto path = std::filesystem::path(UBIQUE_SOURCE_DIR) / "docs" / "reference" / "api.yaml";
  return parse_yaml(read_file(path), path.string());
}

/// "GET /api/jobs/{id}" of every operation.
Names routes_of(const YamlNode& file) {
  Names routes;
  const auto& paths = below(file, "paths");
  for (std::size_t i = 0; i < paths.keys.size(); ++i) {
    for (auto method : paths.items[i].keys) {
      std::ranges::transform(method, method.begin(),
                             [](unsigned char c) { return std::toupper(c); });
      routes.insert(method + " " + paths.keys[i]);
    }
  }
  return routes;
}

Names keys_of_schema(const YamlNode& file, const std::string& name) {
  const auto& schema = below(below(below(file, "components"), "schemas"), name);
  const auto& keys = below(schema, "properties").keys;
  return {keys.begin(), keys.end()};
}

Names keys_of(const Json& json) {
  Names keys;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  return keys;
}

std::string missing_in(const Names& here, const Names& there) {
  std::vector<std::string> missing;
  std::ranges::set_difference(there, here, std::back_inserter(missing));
  return join(missing, ", ");
}

}  // namespace

TEST_CASE("api.yaml: has every route of the server, and no other") {
  TestStudio studio;
  Names served;
  for (const auto& route : studio.studio().router().routes()) {
    auto pattern = route.pattern;
    std::erase(pattern, '*');
    served.insert(route.method + " " + pattern);
  }
  const auto written = routes_of(api_file());
  CHECK(missing_in(written, served) == "");
  CHECK(missing_in(served, written) == "");
}

TEST_CASE("api.yaml: jobs, progress, items and playlists have the keys that it lists") {
  TestStudio studio;
  const auto file = api_file();
  studio.json("POST", "/api/jobs", {{"verb", "data"}, {"family", "meshnet"}, {"name", "synth"}},
              201);
  CHECK(keys_of(studio.json("GET", "/api/jobs/1")) == keys_of_schema(file, "Job"));
  CHECK(keys_of(studio.json("GET", "/api/jobs/1")["request"]) ==
        keys_of_schema(file, "JobRequest"));
  CHECK(keys_of(Progress().json()) == keys_of_schema(file, "Progress"));
  studio.finish(1, {{"a.txt", "x"}}, "data");
  CHECK(keys_of(studio.json("GET", "/api/library/1")) == keys_of_schema(file, "Item"));
  const auto list = studio.json("POST", "/api/playlists", {{"name", "mine"}}, 201);
  CHECK(keys_of(list) == keys_of_schema(file, "Playlist"));
}
