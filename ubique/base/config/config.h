// SPDX-License-Identifier: Apache-2.0
// Configuration from flags > environment (UBIQUE_*) > YAML > implied values > defaults. Code reads
// keys with a type and a default; finish() reports keys that were never read as unknown, with a
// "did you mean". Every value remembers its source.
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
/// Cheap to copy: sections share one document and one record of the keys that were read. Not thread
/// safe. Keys may be dotted: get("a.b") is get("b") of section("a").
class Config {
 public:
  Config();  ///< no file: only flags, environment and defaults
  static Config from_file(const std::filesystem::path& path);
  /// `name` is the file's name in messages.
  static Config from_text(std::string_view text, std::string name);

  /// Overrides; both belong to the whole document. An unknown flag key is an error in finish(). A
  /// flag "null" undoes what the file says. Lists are "a, b" or "[a, b]".
  void set_flag(const std::string& dotted_key, const std::string& text);
  /// Replaces the process environment (tests); only UBIQUE_* is read. The variable of key a.b-c is
  /// UBIQUE_A_B_C.
  void set_environment(std::map<std::string, std::string> environment);
  /// Another program's variable for a key, read if UBIQUE_<KEY> is not set.
  void add_variable(const std::string& dotted_key, const std::string& variable);
  /// A value that counts where neither flag nor environment nor file sets the key; `source` names
  /// what it follows from. The first one given stays. A section of the file that has the key's name
  /// ("model:" with settings under it) is then no value of the key.
  void imply(const std::string& dotted_key, const std::string& text, const std::string& source);
  /// The same with the value of another key, such as another program's name for it. False if that
  /// key is not given.
  bool adopt(const std::string& dotted_key, std::string_view other);

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
  /// For a setting with several names: the name that the strongest source uses, else the first.
  /// Usage error if one source gives two different values.
  std::string effective_name(const std::vector<std::string>& names) const;
  Config section(std::string_view key) const;             ///< a nested mapping; empty if absent
  std::vector<Config> items(std::string_view key) const;  ///< a list of mappings; empty if absent
  std::vector<std::string> keys() const;                  ///< the YAML keys written here

  /// Accepts a key with any content without reading it.
  void ignore(std::string_view key) const;
  /// Makes a key known that is read later, so that finish() can come before data are read.
  void expect(std::string_view key) const;
  /// Usage error for keys of the file and flags that were never read (whole document).
  void finish() const;
  std::vector<ResolvedValue> resolved() const;    ///< everything read so far, in order
  std::string where(std::string_view key) const;  ///< "needs.yaml:12", for messages

 private:
  struct Document;
  struct View;
  std::shared_ptr<Document> document_;
  std::shared_ptr<View> view_;
};

}  // namespace ubique
