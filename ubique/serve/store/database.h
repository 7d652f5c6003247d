// SPDX-License-Identifier: Apache-2.0
// One SQLite file: statements with values, rows by column names, transactions. Errors are typed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ubique/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ubique::serve {

using Cell = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

/// A cell for a value that may be absent.
template <typename T>
Cell cell_of(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell(nullptr);
}

class Row {
 public:
  Row(std::shared_ptr<const std::vector<std::string>> names, std::vector<Cell> cells)
      : names_(std::move(names)), cells_(std::move(cells)) {}
  std::int64_t number(std::string_view name) const;  ///< 0 for NULL
  double real(std::string_view name) const;
  std::string text(std::string_view name) const;  ///< empty for NULL
  bool is_null(std::string_view name) const;
  std::optional<std::int64_t> maybe_number(std::string_view name) const;

 private:
  const Cell& cell(std::string_view name) const;
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<Cell> cells_;
};

/// Nothing was changed; once there is room, the same call works.
class DiskFull : public Error {
 public:
  using Error::Error;
};

/// Calls may come from any thread: one at a time is served.
class Database {
 public:
  explicit Database(const std::filesystem::path& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql, const std::vector<Cell>& values = {});
  std::vector<Row> rows(const std::string& sql, const std::vector<Cell>& values = {});
  std::optional<Row> row(const std::string& sql, const std::vector<Cell>& values = {});
  void script(const std::string& sql);  ///< several statements
  std::int64_t last_id() const;
  std::int64_t changes() const;  ///< rows that the last run() changed

 private:
  friend class Transaction;
  sqlite3_stmt* prepared(const std::string& sql);
  void bind(sqlite3_stmt* statement, const std::vector<Cell>& values);
  [[noreturn]] void fail_with(const std::string& doing) const;

  std::filesystem::path path_;
  std::recursive_mutex mutex_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, sqlite3_stmt*> statements_;
  int depth_ = 0;  // of transactions inside each other
};

/// All or nothing: undone unless commit() was reached. Other threads wait meanwhile. One inside
/// another is part of it.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  std::unique_lock<std::recursive_mutex> lock_;
  bool done_ = false;
};

}  // namespace ubique::serve
