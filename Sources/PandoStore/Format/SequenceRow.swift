import PandoModels
import PandoSystem

/// A position in the order of writes: a commit number, and a counter of the reads between that
/// commit and the next.
///
/// ```
/// bits 63…20 commit number    bits 19…0 0 for the commit itself; how many reads began since
/// ```
package enum SequenceNumber {
  private static let readBits: UInt64 = 20

  /// The sequence number of a commit.
  package static func of(commit number: UInt64) -> UInt64 { number << readBits }

  /// The sequence number of a read that begins after a commit; beyond a million reads, all share
  /// the last one.
  package static func of(read number: UInt64, after commit: UInt64) -> UInt64 {
    of(commit: commit) + min(number, 1 << readBits - 1)
  }

  /// Whether a sequence number is that of a read.
  package static func isOfRead(_ number: UInt64) -> Bool { number & (1 << readBits - 1) != 0 }
}

/// The row of a node whose sequence number differs from that of its last commit.
///
/// ```
/// offset 0     1          9          17
///        ┌─────┬──────────┬──────────┐   a row of the `meta` table under `order:` and the identifier,
///        │kind │ number   │ commit   │   all integers little endian
///        └─────┴──────────┴──────────┘
/// kind 1: the content came from elsewhere, where it was known at `number`
/// kind 2: the node was written here at `number`, and had this content already
/// kind 3: the node was removed at `number`, a tombstone; `commit` is 0
/// `number` is a ``SequenceNumber``, `commit` a commit number. A row of kind 1 or 2 is valid while
/// `commit` is the last commit that changed the node.
/// `commit` is the commit that changed the node last.
package struct SequenceRow: Equatable {
  package enum Kind: UInt8 {
    case dated = 1
    case confirmed = 2
    case tombstone = 3
  }

  package static let byteCount = 17

  package let kind: Kind
  package let sequenceNumber: UInt64
  package let commit: UInt64

  package init(_ kind: Kind, sequenceNumber: UInt64, commit: UInt64 = 0) {
    self.kind = kind
    self.sequenceNumber = sequenceNumber
    self.commit = commit
  }

  init(_ bytes: Span<UInt8>, identifier: String) throws {
    guard bytes.count == Self.byteCount, let kind = Kind(rawValue: bytes[0]),
      let sequenceNumber = bytes.littleEndian(at: 1), let commit = bytes.littleEndian(at: 9)
    else { throw StoreError.damaged(identifier, "its sequence number is malformed") }
    self.init(kind, sequenceNumber: sequenceNumber, commit: commit)
  }

  var bytes: [UInt8] { [kind.rawValue] + [UInt8](littleEndian: sequenceNumber, commit) }
}

/// The keys of the `meta` table for the order of writes.
enum SequenceKey {
  static let rowPrefix = Array("order:".utf8)
  static let rankPrefix = Array("rank:".utf8)
  /// The namespaces of identifiers whose removal leaves a tombstone, each ended by a zero byte.
  static let namespaces = Array("order-namespaces".utf8)
  /// The number of tombstones, and the number up to which they were discarded; see ``Tombstones``.
  static let tombstones = Array("order-removals".utf8)

  /// The longest key in plain form; a longer one ends with a hash, as in ``IdentifierKey``.
  private static let byteCountMaximum = 500

  static func row(_ identifier: String) -> [UInt8] { key(rowPrefix, identifier) }
  static func rank(_ identifier: String) -> [UInt8] { key(rankPrefix, identifier) }

  private static func key(_ prefix: [UInt8], _ identifier: String) -> [UInt8] {
    let key = prefix + Array(identifier.utf8)
    guard key.count > byteCountMaximum else { return key }
    // One byte longer than any plain key.
    return Array(key.prefix(byteCountMaximum + 1 - 16)) + IdentifierHash.bytes(of: identifier)
  }
}

/// The number of tombstones, and the sequence number up to which they were discarded.
///
/// A late write to a missing node must detect whether the node was removed after the write began.
/// Tombstones are kept up to a limit. Beyond it the older half is deleted at once, and its highest
/// sequence number is kept. A write of at most that number counts as older than a removal.
package struct Tombstones: Equatable {
  /// The most tombstones: about ten megabytes.
  package static let countMaximum: UInt64 = 100_000

  /// An upper bound of the number of tombstones.
  var count: UInt64 = 0
  /// Tombstones up to this sequence number may be gone.
  var forgottenSequenceNumber: UInt64 = 0

  init() {}

  init(_ bytes: Span<UInt8>) throws {
    var row = RowReader(bytes, "order of writes", "the count of tombstones is malformed")
    (count, forgottenSequenceNumber) = (try row.number(), try row.number())
  }

  var bytes: [UInt8] { [UInt8](littleEndian: count, forgottenSequenceNumber) }
}

/// The namespaces, identifier prefixes up to a colon, whose removals leave tombstones.
struct TombstoneNamespaces {
  private var names: Set<ByteString> = []

  var isEmpty: Bool { names.isEmpty }

  init(_ bytes: Span<UInt8>?) throws {
    guard let bytes else { return }
    let text = try bytes.text("the namespaces of the order of writes")
    for name in text.utf8.split(separator: 0) { names.insert(ByteString(String(name) ?? "")) }
  }

  var bytes: [UInt8] { names.ordered().flatMap { Array($0.text.utf8) + [0] } }

  mutating func insert(_ name: String) -> Bool { names.insert(ByteString(name)).inserted }

  func contains(_ identifier: String) -> Bool {
    let text = identifier.utf8
    var start = text.startIndex
    while let colon = text[start...].firstIndex(of: UInt8(ascii: ":")) {
      if let name = String(text[..<colon]), names.contains(ByteString(name)) { return true }
      start = text.index(after: colon)
    }
    return false
  }
}
