#include "esker_db.h"

#include <algorithm>
#include <mutex>

#include "core/core_workload.h"
#include "core/db_factory.h"
#include "esker_row.h"
#include "utils/utils.h"

namespace ycsbc {

namespace {

// What the threads share. The mutex is held for openings and closings only.
std::mutex mutex;
esker_store *store = nullptr;
int users = 0;

[[noreturn]] void Fail(const char *call) { throw utils::Exception(std::string("Esker, ") + call + ": " + esker_last_error()); }

void Check(esker_status status, const char *call) {
  if (status != ESKER_OK) Fail(call);
}

esker_durability Durability(const utils::Properties &properties) {
  const std::string name = properties.GetProperty("esker.durability", "buffered");
  if (name == "buffered") return ESKER_DURABILITY_BUFFERED;
  if (name == "synced") return ESKER_DURABILITY_SYNCED;
  throw utils::Exception("esker.durability is neither buffered nor synced: " + name);
}

void OpenStore(const utils::Properties &properties) {
  const std::string path = properties.GetProperty("esker.path");
  if (path.empty()) throw utils::Exception("esker.path is missing");
  esker_options options = ESKER_OPTIONS_INIT;
  options.durability = Durability(properties);
  Check(esker_open(path.c_str(), &options, &store), "esker_open");
}

// Has the keyspace keep its keys in order from now on, which the first range does.
void KeepOrder(esker_keyspace *keyspace) {
  esker_range range = ESKER_RANGE_INIT;
  range.limit = 1;
  esker_cursor *cursor = nullptr;
  esker_entry entry = ESKER_ENTRY_INIT;
  Check(esker_cursor_open(keyspace, nullptr, &range, &cursor), "esker_cursor_open");
  if (ESKER_FAILED(esker_cursor_next(cursor, &entry))) Fail("esker_cursor_next");
  Check(esker_cursor_close(cursor), "esker_cursor_close");
}

}  // namespace

void EskerDB::Init() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (users++ == 0) OpenStore(*props_);
  const std::string table = props_->GetProperty(CoreWorkload::TABLENAME_PROPERTY, CoreWorkload::TABLENAME_DEFAULT);
  Check(esker_keyspace_open(store, table.c_str(), &keyspace_), "esker_keyspace_open");
  if (utils::StrToBool(props_->GetProperty("esker.ordered", "false"))) KeepOrder(keyspace_);
}

void EskerDB::Cleanup() {
  const std::lock_guard<std::mutex> lock(mutex);
  Check(esker_keyspace_close(keyspace_), "esker_keyspace_close");
  keyspace_ = nullptr;
  if (--users > 0) return;
  Check(esker_close(store), "esker_close");
  store = nullptr;
}

DB::Status EskerDB::Read(const std::string &, const std::string &key, const std::vector<std::string> *fields,
                         std::vector<Field> &result) {
  size_t length = 0;
  if (!Fetch(key, length)) return kNotFound;
  ParseRow(buffer_.data(), length, fields, result);
  return kOK;
}

DB::Status EskerDB::Scan(const std::string &, const std::string &key, int record_count, const std::vector<std::string> *fields,
                         std::vector<std::vector<Field>> &result) {
  // No limit at all is what Esker means by 0.
  if (record_count <= 0) return kOK;
  esker_range range = ESKER_RANGE_INIT;
  range.from = {key.data(), key.size()};
  range.limit = static_cast<uint64_t>(record_count);
  esker_cursor *cursor = nullptr;
  Check(esker_cursor_open(keyspace_, nullptr, &range, &cursor), "esker_cursor_open");
  esker_entry entry = ESKER_ENTRY_INIT;
  esker_status status;
  while ((status = esker_cursor_next(cursor, &entry)) == ESKER_OK) {
    result.push_back(std::vector<Field>());
    ParseRow(static_cast<const char *>(entry.value), entry.value_length, fields, result.back());
  }
  if (status != ESKER_END) Fail("esker_cursor_next");
  Check(esker_cursor_close(cursor), "esker_cursor_close");
  return kOK;
}

DB::Status EskerDB::Update(const std::string &, const std::string &key, std::vector<Field> &values) {
  size_t length = 0;
  if (!Fetch(key, length)) return kNotFound;
  std::vector<Field> row;
  ParseRow(buffer_.data(), length, nullptr, row);
  for (const Field &value : values) {
    const auto field = std::find_if(row.begin(), row.end(), [&](const Field &each) { return each.name == value.name; });
    if (field == row.end()) throw utils::Exception("Esker: a row has no field " + value.name);
    field->value = value.value;
  }
  Store(key, row);
  return kOK;
}

DB::Status EskerDB::Insert(const std::string &, const std::string &key, std::vector<Field> &values) {
  Store(key, values);
  return kOK;
}

DB::Status EskerDB::Delete(const std::string &, const std::string &key) {
  const esker_status status = esker_remove(keyspace_, key.data(), key.size(), nullptr);
  if (status == ESKER_NOT_FOUND) return kNotFound;
  Check(status, "esker_remove");
  return kOK;
}

bool EskerDB::Fetch(const std::string &key, size_t &length) {
  for (;;) {
    const esker_status status = esker_get_into(keyspace_, key.data(), key.size(), &buffer_[0], buffer_.size(), &length);
    if (status == ESKER_OK) return true;
    if (status == ESKER_NOT_FOUND) return false;
    if (status != ESKER_BUFFER_TOO_SMALL) Fail("esker_get_into");
    // Another thread may have put a longer row before the next look.
    buffer_.resize(length);
  }
}

void EskerDB::Store(const std::string &key, const std::vector<Field> &fields) {
  std::string row;
  AppendRow(fields, row);
  Check(esker_put(keyspace_, key.data(), key.size(), row.data(), row.size(), nullptr, nullptr), "esker_put");
}

namespace {

DB *NewEskerDB() { return new EskerDB; }

// The suite's bindings register themselves as the program starts.
const bool registered = DBFactory::RegisterDB("esker", NewEskerDB);

}  // namespace

}  // namespace ycsbc
