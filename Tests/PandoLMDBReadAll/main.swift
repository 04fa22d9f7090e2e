// Reads everything in an LMDB environment through liblmdb, the way any program would.
//
// Tests run this as a process of its own on files that a page walk called clean: it must end with
// status 0. A damaged file can make liblmdb return an error (status 1 here) or end the process.
//
//     LMDBReadAll ENVIRONMENT

import CPandoLMDB
import Glibc

func require(_ code: Int32, _ function: String) {
  guard code != MDB_SUCCESS else { return }
  print("\(function): \(String(cString: mdb_strerror(code)))")
  exit(1)
}

/// Adds up all bytes, so that each of them is read.
func sum(_ value: MDB_val) -> UInt64 {
  UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    .reduce(0) { $0 &+ UInt64($1) }
}

/// Walks a table in both directions, finds each key again, and returns how many entries it has.
func readAll(_ transaction: OpaquePointer?, _ table: MDB_dbi, total: inout UInt64) -> Int {
  var cursor: OpaquePointer?
  var lookup: OpaquePointer?
  require(mdb_cursor_open(transaction, table, &cursor), "mdb_cursor_open")
  require(mdb_cursor_open(transaction, table, &lookup), "mdb_cursor_open")
  defer {
    mdb_cursor_close(cursor)
    mdb_cursor_close(lookup)
  }
  var counts = [0, 0]
  for (direction, step) in [MDB_NEXT, MDB_PREV].enumerated() {
    var key = MDB_val()
    var value = MDB_val()
    var code = mdb_cursor_get(cursor, &key, &value, direction == 0 ? MDB_FIRST : MDB_LAST)
    while code == MDB_SUCCESS {
      counts[direction] += 1
      total = total &+ sum(key) &+ sum(value)
      if direction == 0 {
        var found = MDB_val()
        require(mdb_get(transaction, table, &key, &found), "mdb_get")
        total = total &+ sum(found)
        var sameKey = key
        require(mdb_cursor_get(lookup, &sameKey, &found, MDB_SET_RANGE), "MDB_SET_RANGE")
      }
      code = mdb_cursor_get(cursor, &key, &value, step)
    }
    if code != MDB_NOTFOUND { require(code, "mdb_cursor_get") }
  }
  var statistics = MDB_stat()
  require(mdb_stat(transaction, table, &statistics), "mdb_stat")
  guard counts[0] == counts[1], counts[0] == statistics.ms_entries else {
    print(
      "\(counts[0]) entries forwards, \(counts[1]) backwards, \(statistics.ms_entries) recorded")
    exit(1)
  }
  return counts[0]
}

/// The names in the main table that are tables.
func tableNames(_ transaction: OpaquePointer?, _ main: MDB_dbi) -> [[CChar]] {
  var cursor: OpaquePointer?
  require(mdb_cursor_open(transaction, main, &cursor), "mdb_cursor_open")
  defer { mdb_cursor_close(cursor) }
  var names: [[CChar]] = []
  var key = MDB_val()
  var value = MDB_val()
  while mdb_cursor_get(cursor, &key, &value, MDB_NEXT_NODUP) == MDB_SUCCESS {
    let bytes = UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
    if !bytes.contains(0) { names.append(bytes.map { CChar(bitPattern: $0) } + [0]) }
  }
  return names
}

guard CommandLine.arguments.count == 2 else {
  print("usage: LMDBReadAll ENVIRONMENT")
  exit(2)
}
// A damaged file that sends liblmdb round in circles ends here instead: time of the processor, of
// which a sound file takes a fraction of a second.
var processorSeconds = rlimit(rlim_cur: 600, rlim_max: 600)
setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &processorSeconds)
var environment: OpaquePointer?
require(mdb_env_create(&environment), "mdb_env_create")
require(mdb_env_set_maxdbs(environment, 1024), "mdb_env_set_maxdbs")
require(
  mdb_env_open(environment, CommandLine.arguments[1], UInt32(MDB_RDONLY | MDB_NOTLS), 0o600),
  "mdb_env_open")
var transaction: OpaquePointer?
require(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction), "mdb_txn_begin")
var main: MDB_dbi = 0
require(mdb_dbi_open(transaction, nil, 0, &main), "mdb_dbi_open")
var total: UInt64 = 0
var entries = readAll(transaction, main, total: &total)
var mainFlags: UInt32 = 0
require(mdb_dbi_flags(transaction, main, &mainFlags), "mdb_dbi_flags")
if mainFlags & UInt32(MDB_DUPSORT | MDB_INTEGERKEY) == 0 {
  for name in tableNames(transaction, main) {
    var table: MDB_dbi = 0
    let code = mdb_dbi_open(transaction, name, 0, &table)
    // A key of the main table that holds a plain value.
    if code == MDB_INCOMPATIBLE { continue }
    require(code, "mdb_dbi_open")
    entries += readAll(transaction, table, total: &total)
  }
}
mdb_txn_abort(transaction)
mdb_env_close(environment)
print("\(entries) entries, sum \(total)")
