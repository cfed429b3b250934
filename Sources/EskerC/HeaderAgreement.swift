// Safety: nothing is called here, and no pointer is followed.

import CEsker

/// Never called: it does not compile if a function here has other parameters, or another result, than esker.h declares.
private func agreeWithHeader() {
  unsafe agree(open, esker_open)
  unsafe agree(close, esker_close)
  unsafe agree(sync, esker_sync)
  unsafe agree(refresh, esker_refresh)
  unsafe agree(merge, esker_merge)
  unsafe agree(backup, esker_backup)
  unsafe agree(statistics, esker_statistics)
  unsafe agree(openKeyspace, esker_keyspace_open)
  unsafe agree(closeKeyspace, esker_keyspace_close)
  unsafe agree(removeKeyspace, esker_keyspace_remove)
  unsafe agree(keyspaceNames, esker_keyspace_names)
  unsafe agree(count, esker_count)
  unsafe agree(get, esker_get)
  unsafe agree(getInto, esker_get_into)
  unsafe agree(getMany, esker_get_many)
  unsafe agree(contains, esker_contains)
  unsafe agree(getInfo, esker_get_info)
  unsafe agree(view, esker_view)
  unsafe agree(viewRange, esker_view_range)
  unsafe agree(put, esker_put)
  unsafe agree(putIfAbsent, esker_put_if_absent)
  unsafe agree(putIfVersion, esker_put_if_version)
  unsafe agree(compareAndSet, esker_compare_and_set)
  unsafe agree(increment, esker_increment)
  unsafe agree(touch, esker_touch)
  unsafe agree(remove, esker_remove)
  unsafe agree(removeIfVersion, esker_remove_if_version)
  unsafe agree(removeAll, esker_remove_all)
  unsafe agree(createBatch, esker_batch_create)
  unsafe agree(putInBatch, esker_batch_put)
  unsafe agree(removeInBatch, esker_batch_remove)
  unsafe agree(requireInBatch, esker_batch_require)
  unsafe agree(commitBatch, esker_batch_commit)
  unsafe agree(freeBatch, esker_batch_free)
  unsafe agree(openSnapshot, esker_snapshot_open)
  unsafe agree(getFromSnapshot, esker_snapshot_get)
  unsafe agree(closeSnapshot, esker_snapshot_close)
  unsafe agree(openCursor, esker_cursor_open)
  unsafe agree(nextOfCursor, esker_cursor_next)
  unsafe agree(closeCursor, esker_cursor_close)
}

/// Two functions of one type.
private func agree<Function>(_ implemented: Function, _ declared: Function) {}
