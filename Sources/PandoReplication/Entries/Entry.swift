import PandoRecords
package import PandoStore

/// The identity of an entry: its origin, and its number among the entries of that origin.
package struct EntryIdentity: Hashable, Sendable {
  /// 16 random bytes, new for each opening of a store.
  package var origin: [UInt8]
  /// From 1.
  package var counter: UInt64

  package init(origin: [UInt8], counter: UInt64) {
    self.origin = origin
    self.counter = counter
  }
}

/// The writes of one flush of a store: the unit of the log.
package struct Entry: Sendable {
  /// A type whose records the entry has.
  package struct TypeVersion: Sendable {
    package var name: String
    package var schemaVersion: UInt32

    package init(_ name: String, _ schemaVersion: UInt32) {
      self.name = name
      self.schemaVersion = schemaVersion
    }
  }

  package var identity: EntryIdentity
  /// The position up to which the origin had applied the log.
  package var base: UInt64
  /// The last commit at that position.
  package var baseCommit: UInt64
  /// The hash of all messages up to that position.
  package var chain: EntryChain
  /// How many new node numbers the entry uses.
  package var nodeCount: UInt64
  /// Types that are new, in the order of their numbers.
  package var newTypes: [String]
  package var types: [TypeVersion]
  package var writes: [WriteEffects]

  package init(
    _ identity: EntryIdentity, base: UInt64, baseCommit: UInt64, chain: EntryChain,
    nodeCount: UInt64 = 0, newTypes: [String] = [], types: [TypeVersion] = [],
    writes: [WriteEffects] = []
  ) {
    self.identity = identity
    self.base = base
    self.baseCommit = baseCommit
    self.chain = chain
    self.nodeCount = nodeCount
    self.newTypes = newTypes
    self.types = types
    self.writes = writes
  }
}

/// The first entry of a log: the identity of the log, and the store from which it was made.
///
/// A later one begins the log again.
package struct Genesis: Equatable, Sendable {
  /// 16 random bytes.
  package var log: [UInt8]
  /// The last commit of the store that began the log, and the numbers that its next node and type get.
  package var commit: UInt64
  package var nextNode: UInt64
  package var nextType: UInt64
  /// The position for which it was made; at any other position it is a copy and has no effect.
  package var position: UInt64

  package init(
    log: [UInt8], commit: UInt64, nextNode: UInt64, nextType: UInt64, position: UInt64 = 1
  ) {
    self.log = log
    self.position = position
    self.commit = commit
    self.nextNode = nextNode
    self.nextType = nextType
  }
}

/// A part of an entry that is too large for one message of a log.
///
/// The position of the entry is that of its last part, which refers to the others.
package struct EntryPart: Sendable {
  package var identity: EntryIdentity
  package var index: Int
  package var count: Int
  /// The position of the first part; 0 in the first.
  package var first: UInt64
  package var bytes: [UInt8]

  package init(
    _ identity: EntryIdentity, index: Int, count: Int, first: UInt64, bytes: [UInt8]
  ) {
    self.identity = identity
    self.index = index
    self.count = count
    self.first = first
    self.bytes = bytes
  }

  package var isLast: Bool { index == count - 1 }
}

/// The kinds of messages of a log.
package enum LogMessage: Sendable {
  case genesis(Genesis)
  case entry(Entry)
  case part(EntryPart)
}

/// The size limits of messages.
package enum EntryLimits {
  /// The largest message, in bytes: well below the default limits of engines.
  package static let partByteCount = 512 << 10
  /// The largest entry, in bytes.
  package static let entryByteCount = 64 << 20
  /// The newest version of the format; 2 has former names and defaults of indexes, 3 schema versions, 4
  /// totals of indexes, 5 indexes of words and of folded texts.
  package static let version: UInt8 = 5
}

extension EntryChain {
  /// The hash of all messages up to `message`.
  package func appending(_ message: [UInt8]) -> EntryChain {
    // Each hash is the seed of the next one, so the order matters.
    EntryChain(
      XXHash64.hash(message.span, seed: first), XXHash64.hash(message.span, seed: second &+ 1))
  }
}
