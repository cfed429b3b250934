#ifndef ESKER_YCSB_ESKER_DB_H
#define ESKER_YCSB_ESKER_DB_H

#include <string>
#include <vector>

#include <esker.h>

#include "core/db.h"

namespace ycsbc {

// Esker for YCSB-cpp, by its interface for C.
//
// A row is one value, with its fields one behind the other, in the form in which the suite's RocksDB, LevelDB and LMDB have them; the
// table is a keyspace. An update reads the row, replaces the fields it is given and puts the row, as with RocksDB and LevelDB: two threads
// that update one row at once may lose a field.
//
// Each thread has an object of this class; they share the store. Whatever Esker fails with becomes the suite's exception, which ends it.
class EskerDB : public DB {
 public:
  void Init() override;
  void Cleanup() override;

  Status Read(const std::string &table, const std::string &key, const std::vector<std::string> *fields,
              std::vector<Field> &result) override;
  Status Scan(const std::string &table, const std::string &key, int record_count, const std::vector<std::string> *fields,
              std::vector<std::vector<Field>> &result) override;
  Status Update(const std::string &table, const std::string &key, std::vector<Field> &values) override;
  Status Insert(const std::string &table, const std::string &key, std::vector<Field> &values) override;
  Status Delete(const std::string &table, const std::string &key) override;

 private:
  // The value of a key, in `buffer_`; `length` becomes its length. False if there is none.
  bool Fetch(const std::string &key, size_t &length);

  // Puts the fields as the row of a key.
  void Store(const std::string &key, const std::vector<Field> &fields);

  esker_keyspace *keyspace_ = nullptr;
  // Grows with the longest row that was read.
  std::string buffer_;
};

}  // namespace ycsbc

#endif
