import PandoModels
import PandoRecords
import PandoStore

/// The bytes of a message; docs/format.md, "Entries of a log".
///
/// ```
/// offset 0        4         5       n - 8        n
///        ┌────────┬─────────┬───────┬────────────┐
///        │ "PNDE" │ version │ CBOR  │ XXH64 of   │   the checksum little endian
///        │        │         │       │ all before │
///        └────────┴─────────┴───────┴────────────┘
/// ```
extension LogMessage {
  static let magic: [UInt8] = Array("PNDE".utf8)
  static let headByteCount = 5
  static let checksumByteCount = 8

  package var bytes: [UInt8] {
    var writer = CBORWriter(minimumCapacity: 1024)
    switch self {
    case .genesis(let genesis): writer.append(genesis)
    case .entry(let entry): writer.append(entry)
    case .part(let part): writer.append(part)
    }
    return SealedBytes.seal(writer.bytes, Self.magic + [version])
  }

  /// The lowest version that supports the contents: 2 for an index whose fields have fallbacks or a reading, 3 for
  /// schema versions, 4 for an index with totals, 5 for one of words or of a folded text.
  private var version: UInt8 {
    guard case .entry(let entry) = self else { return 1 }
    if entry.writes.contains(where: { $0.indexes.contains { $0.index.hasFoldedTexts } }) {
      return 5
    }
    if entry.writes.contains(where: { $0.indexes.contains { $0.index.sums != nil } }) { return 4 }
    if entry.writes.contains(where: { !$0.schemas.isEmpty }) { return 3 }
    let isNew = entry.writes.contains { $0.indexes.contains { !$0.index.fallbacks.isEmpty } }
    return isNew ? 2 : 1
  }

  /// The number at the beginning of the CBOR, by kind of message.
  enum Kind {
    static let genesis: UInt64 = 0
    static let entry: UInt64 = 1
    static let part: UInt64 = 2
  }
}

extension CBORWriter {
  fileprivate mutating func append(_ genesis: Genesis) {
    append(arrayHead: genesis.position == 1 ? 5 : 6)
    append(LogMessage.Kind.genesis)
    append(byteString: genesis.log)
    append(genesis.commit)
    append(genesis.nextNode)
    append(genesis.nextType)
    if genesis.position != 1 { append(genesis.position) }
  }

  fileprivate mutating func append(_ part: EntryPart) {
    append(arrayHead: 7)
    append(LogMessage.Kind.part)
    append(byteString: part.identity.origin)
    append(part.identity.counter)
    append(UInt64(part.index))
    append(UInt64(part.count))
    append(part.first)
    append(byteString: part.bytes)
  }

  fileprivate mutating func append(_ entry: Entry) {
    append(arrayHead: 11)
    append(LogMessage.Kind.entry)
    append(byteString: entry.identity.origin)
    append(entry.identity.counter)
    append(entry.base)
    append(entry.baseCommit)
    append(entry.chain.first)
    append(entry.chain.second)
    append(entry.nodeCount)
    append(list: entry.newTypes) { $0.append($1) }
    append(list: entry.types) { writer, type in
      writer.append(arrayHead: 2)
      writer.append(type.name)
      writer.append(UInt64(type.schemaVersion))
    }
    append(list: entry.writes) { $0.append($1) }
  }

  private mutating func append<Element>(
    list: [Element], _ body: (inout CBORWriter, Element) -> Void
  ) {
    append(arrayHead: list.count)
    for element in list { body(&self, element) }
  }

  private mutating func append(_ write: WriteEffects) {
    append(arrayHead: write.schemas.isEmpty ? 8 : 9)
    append(write.isCommit)
    append(write.isWholeStore)
    append(list: write.removed) { $0.append($1) }
    append(list: write.nodes) { $0.append($1) }
    append(list: write.lists) { $0.append($1) }
    append(list: write.askedFor) { $0.append($1) }
    append(list: write.rules) { writer, rules in
      writer.append(arrayHead: 2)
      writer.append(rules.typeName)
      writer.append(rules.text)
    }
    append(list: write.indexes) { writer, edit in
      let fallbacks = edit.index.fallbacks
      let sums = edit.index.sums
      writer.append(arrayHead: sums != nil ? 7 : fallbacks.isEmpty ? 4 : 5)
      writer.append(edit.isAdded)
      writer.append(edit.index.isUnique)
      writer.append(edit.index.typeName)
      writer.append(list: edit.index.fields) { $0.append($1) }
      if !fallbacks.isEmpty || sums != nil {
        writer.append(list: fallbacks) { $0.append(byteString: $1) }
      }
      guard let sums else { return }
      writer.append(list: sums) { $0.append($1) }
      writer.append(list: edit.index.sumFallbacks) { $0.append(byteString: $1) }
    }
    if write.schemas.isEmpty { return }
    append(list: write.schemas) { writer, schema in
      writer.append(arrayHead: schema.migratedFrom == nil ? 2 : 3)
      writer.append(schema.typeName)
      writer.append(UInt64(schema.version))
      if let before = schema.migratedFrom { writer.append(UInt64(before)) }
    }
  }

  private mutating func append(_ node: WriteEffects.Node) {
    append(arrayHead: 4)
    append(node.identifier)
    if let offset = node.offset { append(offset) } else { appendNull() }
    append(node.isAskedFor)
    append(list: node.records) { writer, record in
      writer.append(arrayHead: 2)
      writer.append(record.typeName)
      writer.append(record.body)
    }
  }

  private mutating func append(_ body: WriteEffects.Body) {
    append(arrayHead: 2)
    append(byteString: body.bytes)
    append(list: body.children) { writer, child in
      writer.append(arrayHead: 4)
      writer.append(child.reference.node)
      writer.append(UInt64(child.reference.type))
      writer.append(child.identifier)
      writer.append(child.typeName)
    }
  }

  private mutating func append(_ list: WriteEffects.List) {
    append(arrayHead: 3)
    append(list.cacheKey)
    switch list.edit {
    case .removed:
      appendNull()
      appendNull()
    case .whole(let elements):
      appendNull()
      append(list: elements) { $0.append($1) }
    case .steps(let steps, let elements):
      append(list: steps) { $0.append($1) }
      append(list: elements) { $0.append($1) }
    }
  }

  private mutating func append(_ step: CollectionChangeInformation) {
    let parts =
      switch step {
      case .insert(let index): [0, index]
      case .update(let index): [1, index]
      case .delete(let index): [2, index]
      case .move(let source, let target): [3, source, target]
      }
    append(list: parts) { $0.append(Int64($1)) }
  }

  private mutating func append(_ element: WriteEffects.Element) {
    switch element {
    case .passing: appendNull()
    case .value(let body):
      append(arrayHead: 1)
      append(body)
    case .node(let identifier, let typeName):
      append(arrayHead: 2)
      append(identifier)
      append(typeName)
    }
  }
}
