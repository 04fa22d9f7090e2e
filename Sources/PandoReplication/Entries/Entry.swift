import PandoRecords
package import PandoStore

/// Which entry: the origin that has made it, and how many that had made before.
package struct EntryIdentity: Hashable, Sendable {
  /// 16 bytes; one for each opening of a store.
  package var origin: [UInt8]
  /// From 1.
  package var counter: UInt64

  package init(origin: [UInt8], counter: UInt64) {
    self.origin = origin
    self.counter = counter
  }
}

/// What one flush of a store has done: the unit of the log.
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
  /// The position that the origin had taken in.
  package var base: UInt64
  /// The last commit at that position.
  package var baseCommit: UInt64
  /// The hash of all entries up to that position.
  package var chain: EntryChain
  /// How many numbers of nodes it takes.
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

/// The first entry of a log: whose it is, and of what its store was made; or the one with which a log is begun
/// again.
package struct Genesis: Equatable, Sendable {
  /// 16 random bytes.
  package var log: [UInt8]
  /// The last commit of the store that began the log, and the numbers that its next node and type get.
  package var commit: UInt64
  package var nextNode: UInt64
  package var nextType: UInt64
  /// The position that it was made for; at any other one it is a copy, which says nothing.
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
/// The position of the entry is that of its last part; that one leads to the others.
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

/// What a message of a log is.
package enum LogMessage: Sendable {
  case genesis(Genesis)
  case entry(Entry)
  case part(EntryPart)
}

/// The sizes that messages have.
package enum EntryLimits {
  /// The largest message, in bytes: well below the default limits of engines.
  package static let partByteCount = 512 << 10
  /// The largest entry, in bytes.
  package static let entryByteCount = 64 << 20
  /// The newest version of the form; 2 has former names and defaults of indexes, 3 schema versions.
  package static let version: UInt8 = 3
}

extension EntryChain {
  /// The hash of what this one is of, and a message behind it.
  package func appending(_ message: [UInt8]) -> EntryChain {
    // The seeds are what came before, so that the order counts.
    EntryChain(
      XXHash64.hash(message.span, seed: first), XXHash64.hash(message.span, seed: second &+ 1))
  }
}
