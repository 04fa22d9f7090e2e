import PandoModels

/// A place in the order of writes: a commit number, and a number that tells what was asked of servers
/// between that commit and the next apart.
///
/// ```
/// bits 63…20 commit number    bits 19…0 0 for the commit itself; how many reads began since
/// ```
package enum WritePlace {
  private static let readBits: UInt64 = 20

  /// The place of a commit.
  package static func of(commit number: UInt64) -> UInt64 { number << readBits }

  /// The place of a read that begins after a commit; beyond a million of them they share the last one.
  package static func of(read number: UInt64, after commit: UInt64) -> UInt64 {
    of(commit: commit) + min(number, 1 << readBits - 1)
  }
}

/// What the store remembers of a node's place in the order of writes, where the node's own commit
/// number does not say it.
///
/// ```
/// offset 0     1          9          17
///        ┌─────┬──────────┬──────────┐   a row of the `meta` table under `order:` and the identifier,
///        │kind │ place    │ commit   │   all integers little endian
///        └─────┴──────────┴──────────┘
/// kind 1: the node came from a server, whose answer is as old as `place`
/// kind 2: the node was written here at `place`, and had this content already
/// kind 3: the node was removed at `place`; `commit` is 0
/// ```
/// `place` is a ``WritePlace``, `commit` a commit number. A mark of kind 1 or 2 counts as long as `commit` is the commit that changed the node last.
package struct OrderMark: Equatable {
  package enum Kind: UInt8 {
    case answered = 1
    case confirmed = 2
    case removed = 3
  }

  package static let byteCount = 17

  package let kind: Kind
  package let place: UInt64
  package let commit: UInt64

  package init(_ kind: Kind, place: UInt64, commit: UInt64 = 0) {
    self.kind = kind
    self.place = place
    self.commit = commit
  }

  init(_ bytes: Span<UInt8>, identifier: String) throws {
    guard bytes.count == Self.byteCount, let kind = Kind(rawValue: bytes[0]),
      let place = ByteFields.littleEndian(bytes, at: 1, width: 8),
      let commit = ByteFields.littleEndian(bytes, at: 9, width: 8)
    else { throw StoreError.damaged(identifier, "its place in the order of writes is malformed") }
    self.init(kind, place: place, commit: commit)
  }

  var bytes: [UInt8] {
    var bytes = [kind.rawValue]
    ByteFields.append(place, width: 8, to: &bytes)
    ByteFields.append(commit, width: 8, to: &bytes)
    return bytes
  }
}

/// The keys of the `meta` table under which the order of writes is kept.
enum OrderKey {
  static let markPrefix = Array("order:".utf8)
  static let rankPrefix = Array("rank:".utf8)
  /// Which identifiers leave a mark when they are removed: namespaces, each ended by a zero byte.
  static let namespaces = Array("order-namespaces".utf8)
  /// How many removals there were since the last sweep, and what was swept; see ``OrderSweep``.
  static let removals = Array("order-removals".utf8)

  /// The longest key that is written out; a longer one ends by a hash, as in ``IdentifierKey``.
  private static let byteCountMaximum = 500

  static func mark(_ identifier: String) -> [UInt8] { key(markPrefix, identifier) }
  static func rank(_ identifier: String) -> [UInt8] { key(rankPrefix, identifier) }

  private static func key(_ prefix: [UInt8], _ identifier: String) -> [UInt8] {
    let key = prefix + Array(identifier.utf8)
    guard key.count > byteCountMaximum else { return key }
    // One byte more than any key that is written out.
    return Array(key.prefix(byteCountMaximum + 1 - 16)) + IdentifierHash.bytes(of: identifier)
  }
}

/// How many removals are remembered, and up to which place they are forgotten.
///
/// A late write to a node that is not there has to know whether the node was removed after the write
/// began. Removals are remembered up to a limit; beyond it the older half is forgotten at once, and
/// with it a place: whatever is as old as that counts as removed.
package struct OrderSweep: Equatable {
  /// The most removals that are remembered: about ten megabytes.
  package static let countMaximum: UInt64 = 100_000

  /// How many there are at most.
  var count: UInt64 = 0
  /// Removals up to this place may be forgotten.
  var forgottenPlace: UInt64 = 0

  init() {}

  init(_ bytes: Span<UInt8>) throws {
    guard let count = ByteFields.littleEndian(bytes, at: 0, width: 8),
      let place = ByteFields.littleEndian(bytes, at: 8, width: 8)
    else { throw StoreError.damaged("order of writes", "the count of removals is malformed") }
    self.count = count
    forgottenPlace = place
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    ByteFields.append(count, width: 8, to: &bytes)
    ByteFields.append(forgottenPlace, width: 8, to: &bytes)
    return bytes
  }
}

/// What identifiers begin with, up to a colon, whose removals are remembered.
struct OrderNamespaces {
  private var names: Set<ByteString> = []

  var isEmpty: Bool { names.isEmpty }

  init(_ bytes: Span<UInt8>?) throws {
    guard let bytes else { return }
    let text = try ByteFields.text(bytes, "the namespaces of the order of writes")
    for name in text.utf8.split(separator: 0) { names.insert(ByteString(String(name) ?? "")) }
  }

  var bytes: [UInt8] { names.sorted().flatMap { Array($0.text.utf8) + [0] } }

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
