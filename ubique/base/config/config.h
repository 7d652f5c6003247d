// SPDX-License-Identifier: Apache-2.0
// Configuration as a person writes it: flags > environment (UBIQUE_*) > YAML > defaults. Code asks
// for keys with a type and a default; what was never asked for is an unknown key, and finish() says
// so with a "did you mean". Every value remembers where it came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ubique {

/// One resolved value: what run.yaml stores and --explain shows.
struct ResolvedValue {
  std::string key;     ///< dotted: "device_backend.force_device"
  std::string value;   ///< as text; a list as "[a, b]"
  std::string source;  ///< "flag", "environment UBIQUE_X", "FILE:LINE" or "default"
};

/// A view of one YAML mapping (or of none) with the overrides of flags and environment on top.
/// Cheap to copy: sections share one document and one record of what was asked for. One thread at a
/// time. Keys may be dotted: get("a.b") is get("b") of section("a").
class Config {
 public:
  Config();  ///< no file: only flags, environment and defaults
  static Config from_file(const std::filesystem::path& path);
  /// `name` stands for the file in messages.
  static Config from_text(std::string_view text, std::string name);

  /// Overrides; both belong to the whole document. An unknown flag key is an error in finish(). A
  /// flag "null" undoes what the file says. Lists are "a, b" or "[a, b]".
  void set_flag(const std::string& dotted_key, const std::string& text);
  /// Replaces the process environment (tests); only UBIQUE_* is looked at. The variable of key
  /// a.b-c is UBIQUE_A_B_C.
  void set_environment(std::map<std::string, std::string> environment);

  /// T is bool, std::int64_t, int, double, std::string, std::vector<std::string>,
  /// std::vector<std::int64_t> or std::vector<double>. "1e-5" is a number, "null" and "~" are "not
  /// given". Usage error naming file, line, key, what was found and what was expected.
  template <typename T>
  T get(std::string_view key, T fallback) const;
  template <typename T>
  std::optional<T> find(std::string_view key) const;
  template <typename T>
  T require(std::string_view key) const;
  /// A number of bytes: 17179869184, "16GiB".
  std::int64_t get_bytes(std::string_view key, std::int64_t fallback) const;

  bool has(std::string_view key) const;
  /// Of the names of one setting the one that counts: what the strongest source says, else the
  /// first. Usage error where one source says two different things.
  std::string name_said(const std::vector<std::string>& names) const;
  Config section(std::string_view key) const;             ///< a nested mapping; empty if absent
  std::vector<Config> items(std::string_view key) const;  ///< a list of mappings; empty if absent
  std::vector<std::string> keys() const;                  ///< the YAML keys written here

  /// A key that may be there whatever it holds, and means nothing here.
  void ignore(std::string_view key) const;
  /// Usage error for the keys in the file and the flags that nobody asked for (whole document).
  void finish() const;
  std::vector<ResolvedValue> resolved() const;    ///< everything asked for so far, in order
  std::string where(std::string_view key) const;  ///< "needs.yaml:12", for messages

 private:
  struct Document;
  struct View;
  std::shared_ptr<Document> document_;
  std::shared_ptr<View> view_;
};

}  // namespace ubique
