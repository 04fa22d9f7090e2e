import PandoLMDB
import PandoSystem
import PandoModels

/// What queries need to know of a type beside its records.
struct QueriedType: Sendable {
  /// The type's number; 0 if no record of it was ever stored.
  let number: UInt32
  let recordCount: Int
  /// Its indexes, in the order of the names of their fields.
  let indexes: [StoredIndex]
}

/// What is known of the types in the newest version that was queried.
///
/// So one query after another need not read what only a commit changes. Any thread.
final class QueryCatalog: Sendable {
  private struct Version {
    var transactionID: UInt64 = 0
    var types: [ByteString: QueriedType] = [:]
  }

  private let newest = Locked(Version())

  /// What a reader's version says of a type.
  func type(named name: String, in reader: borrowing StoreReader) throws -> QueriedType {
    // What a transaction has not committed is seen by it alone.
    guard reader.isCommitted else { return try reader.queriedType(named: name) }
    let key = ByteString(name)
    let transactionID = reader.snapshot.transactionID
    let known = newest.withLock { newest in
      newest.transactionID == transactionID ? newest.types[key] : nil
    }
    if let known { return known }
    let type = try reader.queriedType(named: name)
    guard type.number > 0 else { return type }
    newest.withLock { newest in
      if newest.transactionID < transactionID { newest = Version(transactionID: transactionID) }
      if newest.transactionID == transactionID { newest.types[key] = type }
    }
    return type
  }
}

extension StoreReader {
  fileprivate func queriedType(named name: String) throws -> QueriedType {
    let row = try typeRow(named: name)
    let count = pending?.recordCount(ofTypeNamed: name) ?? row?.recordCount ?? 0
    let number = row?.number ?? 0
    return QueriedType(
      number: number, recordCount: Int(clamping: count),
      indexes: number == 0 ? [] : try indexes(ofType: number))
  }
}
