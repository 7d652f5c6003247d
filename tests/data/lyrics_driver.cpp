// SPDX-License-Identifier: Apache-2.0
// Speaks a JSON list of ["cardinal" | "ordinal" | "decimal" | "money", number, language, currency]
// for tests/peers/lyrics_test.py, which compares with num2words.
#include <cstdio>

#include "ubique/base/error.h"
#include "ubique/base/files/file.h"
#include "ubique/base/text/json.h"
#include "ubique/data/lyrics/language.h"

using namespace ubique;

namespace {

std::string spoken(const Json& job) {
  const auto kind = job.at(0).get<std::string>();
  const auto language = data::find_lyric_language(job.at(2).get<std::string>())->spoken;
  if (kind == "cardinal") return data::cardinal(job.at(1).get<std::uint64_t>(), language);
  if (kind == "ordinal") return data::ordinal(job.at(1).get<std::uint64_t>(), language);
  if (kind == "decimal") return data::decimal(job.at(1).get<double>(), language);
  const auto name = job.at(3).get<std::string>();
  const auto currency = name == "USD"   ? data::Currency::Dollar
                        : name == "GBP" ? data::Currency::Pound
                                        : data::Currency::Euro;
  return data::money(job.at(1).get<double>(), currency, language);
}

}  // namespace

int main(int, char** words) {
  try {
    auto rows = Json::array();
    for (const auto& job : parse_json(read_file(words[1]), words[1])) rows.push_back(spoken(job));
    std::puts(rows.dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lyrics_driver: %s\n", error.what());
    return 1;
  }
}
