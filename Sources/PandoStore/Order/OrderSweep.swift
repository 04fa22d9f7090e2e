import PandoLMDB
import PandoModels

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

extension WriteContext {
  /// Remembers that nodes were removed by the write that ends, if their kind is to be remembered.
  ///
  /// - Parameters:
  ///   - identifiers: The nodes that are gone.
  ///   - number: The number of the commit.
  /// - Throws: `LMDBError` when the disk refuses.
  func rememberRemovals(of identifiers: [String], commitNumber number: UInt64) throws {
    guard !identifiers.isEmpty else { return }
    let namespaces = try orderNamespaces()
    guard !namespaces.isEmpty else { return }
    for identifier in identifiers where namespaces.contains(identifier) {
      try deleteRow(OrderKey.rank(identifier).span, in: tables.meta)
      guard !state.placedRemovals.contains(ByteString(identifier)) else { continue }
      try rememberRemoval(of: identifier, place: WritePlace.of(commit: number))
    }
  }

  /// Remembers that a node was removed, whether it was there or not.
  func rememberRemoval(of identifier: String, place: UInt64) throws {
    try putMark(OrderMark(.removed, place: place), of: identifier)
    var removals = try reading { try $0.removals() }
    removals.count += 1
    if removals.count > OrderSweep.countMaximum { try sweep(&removals) }
    let bytes = removals.bytes
    let key = OrderKey.removals
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  func putMark(_ mark: OrderMark, of identifier: String) throws {
    let bytes = mark.bytes
    let key = OrderKey.mark(identifier)
    try put(bytes.span, forKey: key.span, in: tables.meta)
  }

  /// Forgets the oldest removals, so that half as many are left as there may be.
  private func sweep(_ removals: inout OrderSweep) throws {
    var found: [(place: UInt64, key: [UInt8])] = []
    try reading { reader in
      try reader.snapshot.scan(tables.meta, prefix: OrderKey.markPrefix) { key, value in
        let mark = try OrderMark(value, identifier: "order of writes")
        if mark.kind == .removed { found.append((mark.place, Array(copying: key))) }
        return true
      }
    }
    found.sort { $0.place < $1.place }
    // Fewer than were counted, where one node was removed again and again.
    let forgotten = found.prefix(max(0, found.count - Int(OrderSweep.countMaximum) / 2))
    for entry in forgotten { try deleteRow(entry.key.span, in: tables.meta) }
    removals.count = UInt64(found.count - forgotten.count)
    removals.forgottenPlace = max(removals.forgottenPlace, forgotten.last?.place ?? 0)
  }

  /// Which identifiers leave a mark when they are removed; read once a flush.
  private func orderNamespaces() throws -> OrderNamespaces {
    if let known = state.orderNamespaces { return known }
    let namespaces = try reading { reader in
      let key = OrderKey.namespaces
      return try OrderNamespaces(reader.snapshot.bytes(forKey: key.span, in: tables.meta))
    }
    state.orderNamespaces = namespaces
    return namespaces
  }

  /// Has removals of nodes remembered from now on, by this process and all others.
  func keepOrder(ofNamespace namespace: String) throws {
    var namespaces = try orderNamespaces()
    guard namespaces.insert(namespace) else { return }
    let bytes = namespaces.bytes
    let key = OrderKey.namespaces
    try put(bytes.span, forKey: key.span, in: tables.meta)
    state.orderNamespaces = namespaces
  }
}

/// What identifiers begin with, up to a colon, whose removals are remembered.
struct OrderNamespaces {
  private var names: Set<ByteString> = []

  var isEmpty: Bool { names.isEmpty }

  init(_ bytes: Span<UInt8>?) throws {
    guard let bytes else { return }
    let text = try StoreReader.text(bytes, "the namespaces of the order of writes")
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
