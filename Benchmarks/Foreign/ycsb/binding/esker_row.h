#ifndef ESKER_YCSB_ESKER_ROW_H
#define ESKER_YCSB_ESKER_ROW_H

#include <string>
#include <vector>

#include "core/db.h"

namespace ycsbc {

// A row as bytes: of each field its name and its value, each behind its length in four bytes of the machine's order.

// Appends the fields.
void AppendRow(const std::vector<DB::Field> &fields, std::string &row);

// Appends the fields of a row to a result: all of them, or, unless `names` is null, those of these names. Throws the suite's exception for
// bytes that are no row.
//
// Does the work that the suite's other bindings do for each field, no less: it is engines that are compared.
void ParseRow(const char *row, size_t length, const std::vector<std::string> *names, std::vector<DB::Field> &result);

}  // namespace ycsbc

#endif
