import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// The rows of a queue during one write: of a store, or of memory.
///
/// A class, so that the operations on them are compiled once for both.
protocol QueueRows: AnyObject {
  /// The commit number that readers of this transaction see, as far as it has gone.
  var visibleCommitNumber: CommitNumber { get throws }

  func value(_ name: String) throws -> [UInt8]?
  func setValue(_ name: String, to value: [UInt8]?) throws
  /// Says that a server has a node now, or has it no more, as it is here.
  func stateChanged(of modelIdentifier: String) throws
  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws
}

/// The rows of a store; they live as long as the transaction.
final class StoredRows: QueueRows {
  var transaction: ModelTransaction

  init(_ transaction: borrowing ModelTransaction) { self.transaction = transaction.alias() }

  var visibleCommitNumber: CommitNumber { get throws { try transaction.commitNumber } }

  func value(_ name: String) throws -> [UInt8]? { try reading { try $0.property(name) } }

  /// Reads what this write has made so far.
  func reading<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    let transaction = transaction.alias()
    return try body(transaction.snapshot)
  }

  func stateChanged(of modelIdentifier: String) throws { try transaction.touch(modelIdentifier) }

  func setValue(_ name: String, to value: [UInt8]?) throws {
    try transaction.setProperty(name, to: value)
  }

  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws {
    let transaction = transaction.alias()
    try transaction.snapshot.forEachProperty(withPrefix: prefix, body)
  }
}

/// Rows that end with the process.
final class MemoryRows: QueueRows {
  private var values: [ByteString: [UInt8]] = [:]

  var visibleCommitNumber: CommitNumber { .zero }

  func stateChanged(of modelIdentifier: String) {}

  /// Removes all rows, but for the number that comes next.
  func removeAll() { values = values.filter { $0.key == ByteString(QueueNames.next) } }

  func value(_ name: String) -> [UInt8]? { values[ByteString(name)] }

  func setValue(_ name: String, to value: [UInt8]?) { values[ByteString(name)] = value }

  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws {
    let names = values.keys.filter { $0.text.utf8.starts(with: prefix.utf8) }.ordered()
    for name in names {
      guard let value = values[name], try body(name.text, value) else { return }
    }
  }
}
