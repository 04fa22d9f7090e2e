import PandoModels
import PandoRecords
import PandoStore

/// Reads messages from untrusted sources: every size is checked, and nothing recurses.
extension LogMessage {
  /// Reads a message.
  ///
  /// - Parameter bytes: Any bytes.
  /// - Throws: ``EntryFault``.
  package init(_ bytes: [UInt8]) throws(EntryFault) {
    let fixed = Self.headByteCount + Self.checksumByteCount
    guard bytes.count > fixed, bytes.count <= EntryLimits.entryByteCount,
      bytes[..<Self.magic.count] == Self.magic[...]
    else { throw .malformed("it has another beginning, or an invalid size") }
    let end = bytes.count - Self.checksumByteCount
    guard SealedBytes.isSealed(bytes) else { throw .malformed("its checksum differs") }
    let version = bytes[Self.magic.count]
    guard version <= EntryLimits.version else { throw .newer(version) }
    guard version > 0 else { throw .malformed("it has no version") }
    do {
      // The buffer is read during the call only.
      self = try unsafe bytes.withUnsafeBytes { bytes in
        var reader = unsafe CBORReader(
          UnsafeRawBufferPointer(rebasing: bytes[Self.headByteCount..<end]))
        let message = try reader.message()
        try reader.finish()
        return message
      }
    } catch let fault as EntryFault {
      throw fault
    } catch {
      throw .malformed("\(error)")
    }
  }
}

extension CBORReader {
  fileprivate mutating func message() throws -> LogMessage {
    let count = try arrayHead()
    switch (try unsigned(), count) {
    case (LogMessage.Kind.genesis, 5...6):
      return .genesis(
        Genesis(
          log: try identity(), commit: try unsigned(), nextNode: try unsigned(),
          nextType: try unsigned(), position: count == 6 ? try unsigned() : 1))
    case (LogMessage.Kind.part, 7):
      let identity = try entryIdentity()
      let (index, count) = (try unsigned(), try unsigned())
      let most = UInt64(EntryLimits.entryByteCount / EntryLimits.partByteCount) * 2
      guard count >= 2, count <= most, index < count else { throw malformed("a part of no entry") }
      let first = try unsigned()
      let bytes = unsafe try byteString()
      return .part(
        EntryPart(
          identity, index: Int(index), count: Int(count), first: first,
          bytes: unsafe [UInt8](bytes)))
    case (LogMessage.Kind.entry, 11): return .entry(try entry())
    default: throw malformed("a message of an unknown kind")
    }
  }

  private func malformed(_ reason: String) -> EntryFault { .malformed("\(reason), at \(offset)") }

  private mutating func identity() throws -> [UInt8] {
    let bytes = unsafe try byteString()
    guard bytes.count == 16 else { throw malformed("an identity of \(bytes.count) bytes") }
    return unsafe [UInt8](bytes)
  }

  private mutating func entryIdentity() throws -> EntryIdentity {
    let identity = EntryIdentity(origin: try identity(), counter: try unsigned())
    guard identity.counter > 0 else { throw malformed("the counter 0") }
    return identity
  }

  private mutating func list<Element>(
    _ body: (inout CBORReader) throws -> Element
  ) throws -> [Element] {
    var elements: [Element] = []
    // The count was checked against the number of bytes; the array grows as elements are read.
    for _ in 0..<(try arrayHead()) { elements.append(try body(&self)) }
    return elements
  }

  private mutating func expect(_ count: Int) throws {
    guard try arrayHead() == count else { throw malformed("not \(count) parts") }
  }

  private mutating func bool() throws -> Bool {
    let item = unsafe try item()
    switch unsafe (item.count, item.first) {
    case (1, 0xF4): return false
    case (1, 0xF5): return true
    default: throw malformed("no truth value")
    }
  }

  private mutating func number() throws -> UInt32 {
    guard let number = UInt32(exactly: try unsigned()) else { throw malformed("too large") }
    return number
  }

  private mutating func entry() throws -> Entry {
    let identity = try entryIdentity()
    let (base, baseCommit) = (try unsigned(), try unsigned())
    let chain = EntryChain(try unsigned(), try unsigned())
    let entry = Entry(
      identity, base: base, baseCommit: baseCommit, chain: chain, nodeCount: try unsigned(),
      newTypes: try list { try $0.text() },
      types: try list { reader in
        try reader.expect(2)
        return Entry.TypeVersion(try reader.text(), try reader.number())
      }, writes: try list { try $0.write() })
    for write in entry.writes {
      for node in write.nodes where node.offset ?? 0 >= max(entry.nodeCount, 1) {
        throw malformed("a node beyond those of the entry")
      }
    }
    return entry
  }

  private mutating func write() throws -> WriteEffects {
    let partCount = try arrayHead()
    guard partCount == 8 || partCount == 9 else { throw malformed("not 8 or 9 parts") }
    var write = WriteEffects()
    write.isCommit = try bool()
    write.isWholeStore = try bool()
    write.removed = try list { try $0.text() }
    write.nodes = try list { try $0.node() }
    write.lists = try list { try $0.listEdit() }
    write.askedFor = try list { try $0.text() }
    write.rules = try list { reader in
      try reader.expect(2)
      return WriteEffects.Rules(try reader.text(), try reader.text())
    }
    write.indexes = try list { reader in
      let partCount = try reader.arrayHead()
      guard [4, 5, 7].contains(partCount) else { throw reader.malformed("not 4, 5 or 7 parts") }
      let (isAdded, isUnique) = (try reader.bool(), try reader.bool())
      let typeName = try reader.text()
      let fields = try reader.list { try $0.text() }
      var fallbacks: [[UInt8]] = []
      if partCount > 4 {
        fallbacks = try reader.list { reader in unsafe [UInt8](try reader.byteString()) }
      }
      let sums = partCount == 7 ? try reader.list { try $0.text() } : nil
      var index = ModelIndex(typeName: typeName, fields: fields, isUnique: isUnique, sums: sums)
      index.fallbacks = fallbacks
      if sums != nil {
        index.sumFallbacks = try reader.list { reader in unsafe [UInt8](try reader.byteString()) }
      }
      return WriteEffects.IndexEdit(index, isAdded: isAdded)
    }
    if partCount == 9 {
      write.schemas = try list { reader in
        let count = try reader.arrayHead()
        guard count == 2 || count == 3 else { throw reader.malformed("not 2 or 3 parts") }
        return WriteEffects.Schema(
          try reader.text(), try reader.number(),
          migratedFrom: count == 3 ? try reader.number() : nil)
      }
    }
    let changes = !write.removed.isEmpty || !write.nodes.isEmpty || !write.lists.isEmpty
    guard write.isCommit || !changes else { throw malformed("changes that are no commit") }
    return write
  }

  private mutating func node() throws -> WriteEffects.Node {
    try expect(4)
    return WriteEffects.Node(
      try text(), offset: takeNull() ? nil : try unsigned(), isAskedFor: try bool(),
      records: try list { reader in
        try reader.expect(2)
        return WriteEffects.Record(typeName: try reader.text(), body: try reader.body())
      })
  }

  private mutating func body() throws -> WriteEffects.Body {
    try expect(2)
    let bytes = unsafe try byteString()
    return WriteEffects.Body(
      bytes: unsafe [UInt8](bytes),
      children: try list { reader in
        try reader.expect(4)
        let reference = RecordReference(node: try reader.unsigned(), type: try reader.number())
        return WriteEffects.Child(
          reference, identifier: try reader.text(), typeName: try reader.text())
      })
  }

  private mutating func listEdit() throws -> WriteEffects.List {
    try expect(3)
    let cacheKey = try text()
    if takeNull() {
      if takeNull() { return WriteEffects.List(cacheKey, .removed) }
      return WriteEffects.List(cacheKey, .whole(try list { try $0.element() }))
    }
    let steps = try list { try $0.step() }
    return WriteEffects.List(
      cacheKey, .steps(steps, bringing: try list { try $0.element() }))
  }

  private mutating func step() throws -> CollectionChangeInformation {
    let parts = try list { reader in
      guard let part = Int(exactly: try reader.unsigned()) else {
        throw reader.malformed("a position that can't be")
      }
      return part
    }
    switch (parts.first, parts.count) {
    case (0, 2): return .insert(index: parts[1])
    case (1, 2): return .update(index: parts[1])
    case (2, 2): return .delete(index: parts[1])
    case (3, 3): return .move(from: parts[1], to: parts[2])
    default: throw malformed("a step of no known kind")
    }
  }

  private mutating func element() throws -> WriteEffects.Element {
    if takeNull() { return .passing }
    switch try arrayHead() {
    case 1: return .value(try body())
    case 2: return .node(identifier: try text(), typeName: try text())
    default: throw malformed("an element of no known kind")
    }
  }
}
