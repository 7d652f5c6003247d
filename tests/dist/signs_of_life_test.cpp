// SPDX-License-Identifier: Apache-2.0
// What a rank concludes from the notes of the others.
#include "ubique/dist/signs_of_life.h"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>

using namespace ubique::dist;

namespace {

/// A store in memory.
struct Board {
  std::mutex mutex;
  std::map<std::string, std::string> notes;
  bool gone = false;
  std::atomic<bool> silent = false;  // neither answers nor fails

  Notes functions() {
    return {[this](const std::string& key, const std::string& value) {
              const std::scoped_lock lock(mutex);
              if (gone) throw std::runtime_error("gone");
              notes[key] = value;
            },
            [this](const std::string& key) -> std::optional<std::string> {
              while (silent) std::this_thread::sleep_for(std::chrono::milliseconds(10));
              const std::scoped_lock lock(mutex);
              if (gone) throw std::runtime_error("gone");
              const auto found = notes.find(key);
              return found == notes.end() ? std::nullopt : std::optional(found->second);
            }};
  }
};

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("signs of life: a rank that said nothing for too long is lost, with its last step") {
  Board board;
  board.notes["beat/1"] = "9 41 100";
  const SignsOfLife life(0, 2, 1, board.functions());
  CHECK_FALSE(life.trouble().has_value());
  const auto text = life.explain("connection closed");
  CHECK_MESSAGE(says(text, "rank 1 is lost"), text);
  CHECK_MESSAGE(says(text, "after step 41"), text);
  CHECK(life.trouble().has_value());
}

TEST_CASE("signs of life: where all live, the rank with fewer exchanges hangs") {
  Board board;
  SignsOfLife first(0, 2, 60, board.functions());
  SignsOfLife second(1, 2, 60, board.functions());
  for (int i = 0; i < 3; ++i) first.note_exchange();
  second.note_exchange();
  second.note_step(5);
  const auto text = first.explain("timed out");
  CHECK_MESSAGE(says(text, "rank 1 hangs at step 5"), text);
  CHECK_MESSAGE(says(text, "timed out"), text);
}

TEST_CASE("signs of life: a farewell is the others' reason; a store that is gone means rank 0") {
  Board board;
  SignsOfLife first(0, 2, 60, board.functions());
  SignsOfLife second(1, 2, 60, board.functions());
  second.leave("rank 1 ended: no space");
  CHECK(first.explain("closed") == "rank 1 ended: no space");
  {
    const std::scoped_lock lock(board.mutex);
    board.gone = true;
  }
  CHECK(says(second.explain("closed"), "rank 0 is lost"));
}

TEST_CASE("signs of life: a store that neither answers nor fails means rank 0, and nobody waits") {
  Board board;
  board.silent = true;
  SignsOfLife life(1, 2, 1, board.functions());
  const auto text = life.explain("closed");
  CHECK_MESSAGE(says(text, "rank 0 is lost: its store has not answered for"), text);
  CHECK(life.trouble().has_value());
  CHECK_FALSE(life.finish(std::chrono::milliseconds(100)));
  board.silent = false;
  CHECK(life.finish(std::chrono::seconds(20)));
}
