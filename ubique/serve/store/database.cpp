// SPDX-License-Identifier: Apache-2.0
// The SQLite library behind typed calls.
#include "ubique/serve/store/database.h"

#include <sqlite3.h>

#include <algorithm>

namespace ubique::serve {
namespace {

constexpr int kBusyMilliseconds = 10000;

Cell cell_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return nullptr;
    default:
      break;
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

int bind_cell(sqlite3_stmt* statement, int place, const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    return sqlite3_bind_int64(statement, place, *number);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return sqlite3_bind_double(statement, place, *real);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, place);
}

/// Resets a statement that stays prepared, whatever happens.
class Resetter {
 public:
  explicit Resetter(sqlite3_stmt* statement) : statement_(statement) {}
  ~Resetter() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Resetter(const Resetter&) = delete;
  Resetter& operator=(const Resetter&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

const Cell& Row::cell(std::string_view name) const {
  const auto found = std::ranges::find(*names_, name);
  check(found != names_->end(), ErrorKind::Internal, "[serve.store] no column '{}'.", name);
  return cells_[static_cast<std::size_t>(found - names_->begin())];
}

std::int64_t Row::number(std::string_view name) const { return maybe_number(name).value_or(0); }

std::optional<std::int64_t> Row::maybe_number(std::string_view name) const {
  const auto& value = cell(name);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return static_cast<std::int64_t>(*real);
  return std::nullopt;
}

double Row::real(std::string_view name) const {
  const auto& value = cell(name);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return static_cast<double>(number(name));
}

std::string Row::text(std::string_view name) const {
  const auto& value = cell(name);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return {};
}

bool Row::is_null(std::string_view name) const {
  return std::holds_alternative<std::nullptr_t>(cell(name));
}

Database::Database(const std::filesystem::path& path) : path_(path) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr) != SQLITE_OK) {
    const std::string reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : "no memory";
    sqlite3_close(handle_);
    fail(ErrorKind::Input, "[serve.store] cannot open {}; {}.", path.string(), reason);
  }
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void Database::fail_with(const std::string& doing) const {
  const int code = sqlite3_errcode(handle_) & 0xFF;
  if (code == SQLITE_FULL || sqlite3_extended_errcode(handle_) == SQLITE_IOERR_SHMSIZE) {
    throw DiskFull(ErrorKind::Input,
                   fmt::format("[serve.store] {}: the disk is full. Free some space and try again; "
                               "what was kept before is as it was.",
                               path_.string()));
  }
  const bool foreign = code == SQLITE_IOERR || code == SQLITE_READONLY || code == SQLITE_CORRUPT ||
                       code == SQLITE_NOTADB || code == SQLITE_CANTOPEN;
  fail(foreign ? ErrorKind::Input : ErrorKind::Internal, "[serve.store] {}: cannot {}; {}.",
       path_.string(), doing, sqlite3_errmsg(handle_));
}

sqlite3_stmt* Database::prepared(const std::string& sql) {
  auto& statement = statements_[sql];
  if (statement != nullptr) return statement;
  const int code = sqlite3_prepare_v3(handle_, sql.c_str(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    statements_.erase(sql);
    fail_with("read or write");
  }
  return statement;
}

void Database::bind(sqlite3_stmt* statement, const std::vector<Cell>& values) {
  int place = 0;
  for (const auto& value : values) {
    if (bind_cell(statement, ++place, value) != SQLITE_OK) fail_with("take a value");
  }
}

std::vector<Row> Database::rows(const std::string& sql, const std::vector<Cell>& values) {
  const std::lock_guard lock(mutex_);
  auto* statement = prepared(sql);
  const Resetter resetter(statement);
  bind(statement, values);
  const int columns = sqlite3_column_count(statement);
  auto names = std::make_shared<std::vector<std::string>>();
  for (int i = 0; i < columns; ++i) names->emplace_back(sqlite3_column_name(statement, i));
  std::vector<Row> found;
  int code = sqlite3_step(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    std::vector<Cell> cells;
    for (int i = 0; i < columns; ++i) cells.push_back(cell_at(statement, i));
    found.emplace_back(names, std::move(cells));
  }
  if (code != SQLITE_DONE) fail_with("read or write");
  return found;
}

void Database::run(const std::string& sql, const std::vector<Cell>& values) { rows(sql, values); }

std::optional<Row> Database::row(const std::string& sql, const std::vector<Cell>& values) {
  auto found = rows(sql, values);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

void Database::script(const std::string& sql) {
  const std::lock_guard lock(mutex_);
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail_with("set up its tables");
  }
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_); }
std::int64_t Database::changes() const { return sqlite3_changes(handle_); }

Transaction::Transaction(Database& database) : database_(database), lock_(database.mutex_) {
  if (database_.depth_++ == 0) {
    try {
      database_.run("BEGIN IMMEDIATE");
    } catch (...) {
      --database_.depth_;
      throw;
    }
  }
}

Transaction::~Transaction() {
  if (done_) return;
  if (--database_.depth_ > 0) return;
  try {
    database_.run("ROLLBACK");
  } catch (...) {  // after a full disk SQLite has rolled back already
  }
}

void Transaction::commit() {
  if (database_.depth_ == 1) database_.run("COMMIT");
  --database_.depth_;
  done_ = true;
}

}  // namespace ubique::serve
