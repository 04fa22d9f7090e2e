import CPandoLMDB
import PandoSystem

/// A token from which a ``Snapshot`` can be made again while its transaction lives.
///
/// It serves code that can't hold a `~Escapable` value, such as a `Decoder`. Such code must not use
/// it after the closure of the transaction has returned.
@safe
package struct UnsafeSnapshotHandle {
  /// The `MDB_txn`.
  let transaction: OpaquePointer
  /// The environment of the transaction.
  let environment: EnvironmentNumber
  /// Whether it is a read transaction, whose pages all lie in the map and do not change.
  let isReadOnly: Bool
  /// The environment's count of mappings of its file.
  var mapNumber: UInt32 = 0
}

/// The longest key, fixed in liblmdb's build: three keys must fit on a page.
let keyByteCountMax = 511

extension UnsafeSnapshotHandle {
  /// Looks up a key.
  @unsafe
  @inline(__always)
  func value(
    forKey key: Span<UInt8>, in table: RawTable
  ) throws(LMDBError) -> MDB_val? {
    table.checkBelongs(to: environment)
    var value = unsafe MDB_val()
    let status = try unsafe withMDBKey(key) { key in
      unsafe mdb_get(transaction, table.number, &key, &value)
    }
    if status == 0 { return unsafe value }
    if status == MDB_NOTFOUND { return nil }
    throw tableError(status, "mdb_get", table)
  }

  /// The page counts of a table.
  func statistics(of table: RawTable) throws(LMDBError) -> MDB_stat {
    table.checkBelongs(to: environment)
    var statistics = MDB_stat()
    let status = unsafe mdb_stat(transaction, table.number, &statistics)
    guard status == 0 else { throw tableError(status, "mdb_stat", table) }
    return statistics
  }

  /// The error of a call on a table.
  ///
  /// LMDB returns `EINVAL` for a table that is newer than the transaction.
  @inline(never)
  func tableError(_ status: CInt, _ function: String, _ table: RawTable) -> LMDBError {
    guard status == EINVAL else {
      return LMDBError(LMDBError.Code(rawValue: status), function: function)
    }
    return LMDBError(
      .badTable, function: function,
      detail: "table \(table.number) was opened after this transaction began")
  }
}

/// Runs `body` with a key in LMDB's form.
///
/// - Throws: ``LMDBError`` with code `badKeySize` if the key does not have 1 to 511 bytes.
@inline(__always)
func withMDBKey<Result>(
  _ key: Span<UInt8>, _ body: (inout MDB_val) -> Result
) throws(LMDBError) -> Result {
  guard key.count > 0, key.count <= keyByteCountMax else { throw badKeySize(key.count) }
  return unsafe key.withUnsafeBufferPointer { buffer in
    var key = unsafe MDB_val(buffer)
    return unsafe body(&key)
  }
}

@inline(never)
func badKeySize(_ byteCount: Int) -> LMDBError {
  LMDBError(.badKeySize, function: "key", detail: "this one has \(byteCount)")
}

extension MDB_val {
  /// Bytes for LMDB to read.
  ///
  /// LMDB takes a mutable pointer but does not write through it.
  @inline(__always)
  init(_ buffer: UnsafeBufferPointer<UInt8>) {
    unsafe self.init(
      mv_size: buffer.count, mv_data: UnsafeMutableRawPointer(mutating: buffer.baseAddress))
  }

  /// The bytes, while LMDB keeps them in place; the caller narrows the lifetime.
  @inline(__always)
  var span: Span<UInt8> {
    @_lifetime(immortal)
    get {
      unsafe _overrideLifetime(
        Span(_unsafeBytes: UnsafeRawBufferPointer(start: mv_data, count: mv_size)),
        copying: ())
    }
  }
}

extension Span<UInt8> {
  /// Whether these bytes sort before others in key order.
  ///
  /// - Parameter other: Other bytes.
  /// - Returns: `true` if the first byte that differs is smaller, or the other one is longer.
  @inline(__always)
  func isLess(than other: Span<UInt8>) -> Bool {
    let shared = Swift.min(count, other.count)
    let order = unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in
        guard shared > 0, let mine = mine.baseAddress, let theirs = theirs.baseAddress else {
          return CInt(0)
        }
        return unsafe memcmp(mine, theirs, shared)
      }
    }
    return order == 0 ? count < other.count : order < 0
  }
}
