import PandoManagers
import PandoModels
import PandoStore
import PandoSystem

/// The rows of a queue in a transaction; valid as long as the transaction.
final class QueueRows {
  var transaction: ModelTransaction

  init(_ transaction: borrowing ModelTransaction) { self.transaction = transaction.alias() }

  /// The commit number that readers of this transaction see.
  var visibleCommitNumber: CommitNumber { get throws { try transaction.commitNumber } }

  func value(_ name: String) throws -> [UInt8]? { try reading { try $0.property(name) } }

  /// Reads the state of the store with the changes of the transaction.
  func reading<Result>(_ body: (ModelSnapshot) throws -> Result) throws -> Result {
    let transaction = transaction.alias()
    return try body(transaction.snapshot)
  }

  /// Notes that the synchronization state of a node has changed.
  func stateChanged(of modelIdentifier: String) throws { try transaction.touch(modelIdentifier) }

  func setValue(_ name: String, to value: [UInt8]?) throws {
    try transaction.setProperty(name, to: value)
  }

  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws {
    let transaction = transaction.alias()
    try transaction.snapshot.forEachProperty(withPrefix: prefix, body)
  }
}
