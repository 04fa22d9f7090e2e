import PandoModels
import PandoSystem
import PandoStore

/// The rows of a queue during one write: of a store, or of memory.
protocol QueueTransaction: ~Copyable {
  /// The commit number that readers of this transaction see, as far as it has gone.
  var visibleCommitNumber: UInt64 { get throws }

  func value(_ name: String) throws -> [UInt8]?
  mutating func setValue(_ name: String, to value: [UInt8]?) throws
  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws
}

extension ModelTransaction: QueueTransaction {
  var visibleCommitNumber: UInt64 {
    get throws { commitNumber }
  }

  func value(_ name: String) throws -> [UInt8]? { try snapshot.property(name) }

  mutating func setValue(_ name: String, to value: [UInt8]?) throws {
    try setProperty(name, to: value)
  }

  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws {
    try snapshot.forEachProperty(withPrefix: prefix, body)
  }
}

/// Rows that end with the process.
struct MemoryQueue: QueueTransaction {
  private var values: [ByteString: [UInt8]] = [:]
  var visibleCommitNumber: UInt64 = 0

  func value(_ name: String) -> [UInt8]? { values[ByteString(name)] }

  mutating func setValue(_ name: String, to value: [UInt8]?) { values[ByteString(name)] = value }

  func forEachValue(_ prefix: String, _ body: (String, [UInt8]) throws -> Bool) throws {
    let names = values.keys.filter { $0.text.utf8.starts(with: prefix.utf8) }.ordered()
    for name in names {
      guard let value = values[name], try body(name.text, value) else { return }
    }
  }
}
