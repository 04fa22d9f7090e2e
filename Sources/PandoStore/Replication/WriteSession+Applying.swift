import PandoModels
import PandoRecords
import PandoSystem

/// The reason why a write of an entry can't be applied; the same in every store at that position.
package struct EntryRefusal: Error {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}

extension WriteSession {
  /// Applies the effects of a write of another store.
  ///
  /// It applies everything that an origin may do if no other commit came between. It refuses
  /// effects that would leave contradictory rows, because the bytes are untrusted.
  ///
  /// - Parameters:
  ///   - effects: The effects of the write.
  ///   - firstNode: The first number for new nodes of the entry.
  ///   - position: The position of the entry in the log.
  /// - Throws: ``EntryRefusal``, `StoreError` or `ModelError` if they can't be applied; then the
  ///   transaction can't continue.
  func apply(_ effects: WriteEffects, firstNode: UInt64, position: UInt64) throws {
    for schema in effects.schemas {
      if let from = schema.migratedFrom {
        _ = try typeNumber(named: schema.typeName)
        guard state.types[schema.typeName]?.schemaVersion == from else {
          throw EntryRefusal("\(schema.typeName) was migrated before")
        }
        state.types.change(schema.typeName) { $0.schemaVersion = schema.version }
      } else {
        try putSchema(schema, at: position)
      }
    }
    var application = try EffectsApplication(self, effects, firstNode)
    try application.putNodes()
    try application.editLists()
    for identifier in effects.askedFor { try markAskedFor(application.number(of: identifier)) }
    try application.removeNodes()
    try application.refuseCycles()
    for rules in effects.rules {
      _ = try typeNumber(named: rules.typeName)
      let parsed = try DeletionRules(Array(rules.text.utf8).span, typeName: rules.typeName)
      try setDeletionRules(parsed, ofTypeNamed: rules.typeName)
    }
    // Last, because a unique index must hold at the end of the write.
    for edit in effects.indexes {
      let (fields, name) = (edit.index.fields, edit.index.typeName)
      if edit.isAdded {
        _ = try addIndex(
          on: edit.index.paths(), ofTypeNamed: name, isUnique: edit.index.isUnique,
          sums: edit.index.sumPaths())
      } else {
        _ = try dropIndex(onFields: fields, ofTypeNamed: name)
      }
    }
    if effects.isCommit { state.takesCommitNumber = true }
    state.content?.mix(named: effects.nodes.map(\.identifier))
    for identifier in effects.removed { state.content?.delete(identifier) }
    for list in effects.lists { state.content?.mix(list.cacheKey) }
  }
}

extension WriteSession {
  /// Records the version with which a program has written a type.
  ///
  /// - Throws: ``EntryRefusal`` if a newer program has written it.
  func putSchema(_ schema: WriteEffects.Schema, at position: UInt64) throws {
    let name = schema.typeName
    // Versions recorded in this store alone do not count: all replicas must decide alike.
    let (known, migrated) = try reading { reader in
      (
        try reader.schemaRow(ofTypeNamed: name),
        try (state.types[name] ?? reader.typeRow(named: name))?.schemaVersion ?? 0
      )
    }
    let shared = known?.position == nil ? nil : known
    let newest = max(migrated, shared?.version ?? 0)
    guard newest <= schema.version else {
      throw EntryRefusal("\(name) was written by a program of version \(newest)")
    }
    if shared?.version == schema.version { return }
    let (key, row) = (SchemaRow.key(name), SchemaRow(version: schema.version, position: position))
    try put(row.bytes.span, forKey: key.span, in: tables.meta)
  }
}

/// The application of one write of an entry.
///
/// `gone` and `goneNumbers` are the removed nodes, `fresh` and `freshNumbers` the new ones; an
/// identifier may be in both. `known` caches numbers, `changed` is for ``refuseCycles()``.
private struct EffectsApplication {
  private typealias Changed = (key: RecordKey, edges: [RecordEdge], known: Set<RecordReference>)

  private let session: WriteSession
  private let effects: WriteEffects
  private var gone: [(number: UInt64, identifier: String)] = []
  private var goneNumbers: Set<UInt64> = []
  /// The numbers of new nodes.
  private var fresh: [ByteString: UInt64] = [:]
  private var freshNumbers: Set<UInt64> = []
  /// The numbers of all nodes that were looked up.
  private var known: [ByteString: UInt64] = [:]
  private var changed: [Changed] = []

  init(_ session: WriteSession, _ effects: WriteEffects, _ firstNode: UInt64) throws {
    self.session = session
    self.effects = effects
    for identifier in effects.removed {
      let number = try number(of: identifier)
      guard goneNumbers.insert(number).inserted else {
        throw EntryRefusal("\(identifier) is removed twice")
      }
      gone.append((number, identifier))
    }
    for node in effects.nodes {
      guard let offset = node.offset else { continue }
      try give(node.identifier, firstNode, offset)
    }
  }

  /// The number of a node that exists after the write.
  mutating func number(of identifier: String) throws -> UInt64 {
    let name = ByteString(identifier)
    if let number = fresh[name] ?? known[name] { return number }
    guard let number = try session.reading({ try $0.node(identifier) }),
      try session.reading({ try $0.contains(node: number) })
    else { throw EntryRefusal("\(identifier) is not there") }
    known[name] = number
    return number
  }

  /// Assigns the number of a new node.
  private mutating func give(_ identifier: String, _ firstNode: UInt64, _ offset: UInt64) throws {
    let (number, overflows) = firstNode.addingReportingOverflow(offset)
    guard !overflows, number <= RecordKey.nodeMaximum, number >= session.state.counters.nextNode,
      freshNumbers.insert(number).inserted
    else { throw EntryRefusal("\(identifier) has a number that is not free") }
    guard !identifier.isEmpty else { throw EntryRefusal("a node has an empty identifier") }
    if let old = try session.reading({ try $0.node(identifier) }), !goneNumbers.contains(old) {
      throw EntryRefusal("\(identifier) is there already")
    }
    fresh[ByteString(identifier)] = number
    try session.putIdentifier(identifier, number)
  }

  // MARK: Records

  mutating func putNodes() throws {
    let nodes = effects.nodes.filter { $0.offset != nil }
      .ordered { $0.offset ?? 0 < $1.offset ?? 0 }
    for node in nodes { try putNew(node) }
    if let last = freshNumbers.max() { session.state.counters.nextNode = last + 1 }
    for node in effects.nodes where node.offset == nil { try put(node) }
  }

  private mutating func putNew(_ node: WriteEffects.Node) throws {
    let number = try number(of: node.identifier)
    guard let first = node.records.first else {
      throw EntryRefusal("\(node.identifier) is new and has no record")
    }
    let (key, bytes, edges) = try local(first, number)
    var pending = PendingRecords(firstNewNode: number)
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe pending.append(
        key.reference, identifier: node.identifier, isNewNode: true, body: bytes, edges: edges)
    }
    try session.putNode(pending.records[0], of: pending, isAskedFor: node.isAskedFor)
    session.noteGrowth(of: key, 0, edges[...])
    changed.append((key, edges, []))
    for record in node.records.dropFirst() { try put(record, number) }
    session.state.changes.insert(number, node.identifier)
  }

  private mutating func put(_ node: WriteEffects.Node) throws {
    let number = try number(of: node.identifier)
    guard !goneNumbers.contains(number) else {
      throw EntryRefusal("\(node.identifier) is changed and removed")
    }
    for record in node.records { try put(record, number) }
    session.state.changes.update(number, node.identifier)
  }

  private mutating func put(_ record: WriteEffects.Record, _ number: UInt64) throws {
    let (key, bytes, edges) = try local(record, number)
    let stored = try session.storedBody(of: key)
    let (isNewest, count) = try session.reading { reader in
      (
        try reader.recordKey(node: number, preferring: nil) == key,
        try reader.requiredSummary(of: number).types.count
      )
    }
    guard stored != nil || count < NodeRow.typeCountMaximum else {
      throw EntryRefusal("a node has records of too many types")
    }
    let before = try (isNewest ? stored : nil).map { try RecordBody.edges(in: $0.span) } ?? []
    try session.putRecord(key, body: bytes[...], replacing: stored, edges: edges[...])
    if stored == nil { session.noteGrowth(of: key, 0, edges[...]) }
    changed.append((key, edges, Set(before.map(\.child))))
  }

  /// A record with the numbers that its children have in this store.
  private mutating func local(
    _ record: WriteEffects.Record, _ node: UInt64
  ) throws -> (key: RecordKey, bytes: [UInt8], edges: [RecordEdge]) {
    let type = try session.typeNumber(named: record.typeName)
    let body = try local(record.body)
    return (RecordKey(type: type, node: node), body.bytes, body.edges)
  }

  private mutating func local(
    _ body: WriteEffects.Body
  ) throws -> (bytes: [UInt8], edges: [RecordEdge]) {
    try RecordBody.validate(body.bytes.span)
    let edges = try RecordBody.edges(in: body.bytes.span)
    guard edges.map(\.child) == body.children.map(\.reference) else {
      throw EntryRefusal("a body refers to children that are not named")
    }
    let names = ChildNames()
    var isSame = true
    for child in body.children {
      let node = try number(of: child.identifier)
      guard !goneNumbers.contains(node) else {
        throw EntryRefusal("\(child.identifier) is referred to and removed")
      }
      let reference = RecordReference(
        node: node, type: try session.typeNumber(named: child.typeName))
      isSame = isSame && reference == child.reference
      names.children[child.reference] = child
      names.references[ByteString(child.identifier), default: [:]][child.typeName] = reference
    }
    return isSame ? (body.bytes, edges) : try names.renumber(body.bytes)
  }

  // MARK: Lists

  mutating func editLists() throws {
    for (index, list) in effects.lists.enumerated() {
      let key = list.cacheKey
      switch list.edit {
      case .whole(let elements) where elements.isEmpty && effects.hasSteps(behind: index):
        // The following steps describe the elements.
        try session.makeEmptyCollection(key)
      case .steps(let steps, let elements): try run(steps, elements, key)
      case .whole(let elements):
        try session.setCollection(key, to: elements.map { try local($0) })
        session.state.changes.reset(collection: key)
      case .removed:
        _ = try session.removeCollection(key)
        session.state.changes.reset(collection: key)
      }
    }
  }

  private mutating func run(
    _ steps: [CollectionChangeInformation], _ elements: [WriteEffects.Element], _ key: String
  ) throws {
    var rest = try elements.map { try local($0) }[...]
    var index = 0
    func take(_ count: Int) throws -> [CollectionElement] {
      guard rest.count >= count else { throw EntryRefusal("a step in \(key) brings nothing") }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    while index < steps.count {
      let count: Int
      switch steps[index] {
      case .insert(let position):
        count =
          steps[index...].enumerated()
          .first { $1 != .insert(index: position &+ $0) }?.offset ?? steps.count - index
        try session.insert(try take(count), at: position, inCollection: key)
      case .update(let position):
        count = 1
        try session.update(try take(1)[0], at: position, inCollection: key)
      case .delete(let position):
        count = 1
        guard position >= 0, position < .max,
          try session.reading({ try $0.elements(of: key, in: position..<position + 1) { _ in } })?
            .count == 1
        else { throw EntryRefusal("a step in \(key) deletes nothing") }
        try session.removeElements(in: position..<position + 1, fromCollection: key)
      case .move(let source, let target):
        count = 1
        try session.moveElement(from: source, to: target, inCollection: key)
      }
      index += count
    }
  }

  private mutating func local(_ element: WriteEffects.Element) throws -> CollectionElement {
    switch element {
    case .node(let identifier, let typeName):
      return .node(
        RecordReference(
          node: try number(of: identifier), type: try session.typeNumber(named: typeName)))
    case .value(let body): return .value(try local(body).bytes)
    // A later step removes it, so its content is never visible.
    case .passing: return .value(Self.null)
    }
  }

  private static let null: [UInt8] = [0xF6]

  // MARK: Removals and refusals

  mutating func removeNodes() throws {
    for node in gone {
      try session.reading { reader in
        try reader.forEachParent(of: node.number) { parent, _ in
          guard !parent.isCollection, goneNumbers.contains(parent.node) else {
            throw EntryRefusal("\(node.identifier) is removed and something holds it")
          }
          return true
        }
      }
    }
    for node in gone { try session.leaveIndexes(node.number) }
    for node in gone {
      try session.removeNode(node.number)
      if let number = fresh[ByteString(node.identifier)] {
        try session.putIdentifier(node.identifier, number)
      }
    }
  }

  /// Refuses a record that has become its own descendant.
  ///
  /// Such a cycle contains a changed record; only changed and new ones contain new nodes.
  func refuseCycles() throws {
    try session.reading { reader in
      var lengths: [RecordKey: Int] = [:]
      for record in changed {
        if freshNumbers.contains(record.key.node) {
          let way = try reader.longestWay(from: record.key, &lengths) { key in
            try reader.childRecords(of: key).filter { freshNumbers.contains($0.node) }
          }
          guard way.cycle == nil else { throw EntryRefusal("new nodes hold each other") }
          continue
        }
        var seen: Set<RecordKey> = []
        var frontier = record.edges.map(\.child).filter { !record.known.contains($0) }
        while let next = frontier.popLast() {
          guard let key = try reader.recordKey(node: next.node, preferring: next.type) else {
            throw EntryRefusal("a child is not there")
          }
          guard key != record.key else { throw EntryRefusal("a node would contain itself") }
          guard seen.insert(key).inserted, let body = try reader.body(of: key) else { continue }
          frontier += try RecordBody.edges(in: body).map(\.child)
        }
      }
    }
  }
}

extension WriteSession {
  /// Assigns an identifier to a node, whatever it belonged to before.
  fileprivate func putIdentifier(_ identifier: String, _ number: UInt64) throws {
    let key = IdentifierKey(identifier)
    var value = [UInt8](littleEndian: number)
    if key.isLong { value.append(contentsOf: identifier.utf8) }
    try put(value.span, forKey: key.bytes.span, in: tables.identifiers)
  }
}

/// The children of a body, by name and by the numbers of the original store.
private final class ChildNames: TreeSink {
  var children: [RecordReference: WriteEffects.Child] = [:]
  var references: [ByteString: [String: RecordReference]] = [:]

  /// A body with the numbers that its children have in this store.
  func renumber(_ bytes: [UInt8]) throws -> (bytes: [UInt8], edges: [RecordEdge]) {
    var decoder = TreeDecoder()
    // Read during the call only.
    let value = try unsafe bytes.withUnsafeBytes { bytes in
      try unsafe decoder.value(of: bytes) { reference in
        guard let child = children[reference] else { throw EntryRefusal("an unnamed child") }
        return unsafe TreeRecord(
          identifier: child.identifier, typeName: child.typeName, body: nil)
      }
    }
    var encoder = TreeEncoder(sink: self)
    let (body, edges) = try encoder.encodeValue(value)
    return (body, edges)
  }

  func reference(identifier: String, typeName: String) throws -> RecordReference {
    guard let reference = references[ByteString(identifier)]?[typeName] else {
      throw EntryRefusal("an unnamed child")
    }
    return reference
  }

  func beginNode(identifier: String, typeName: String) throws -> RecordReference {
    throw EntryRefusal("a node inside of a body")
  }

  func endNode(
    _ reference: RecordReference, body: UnsafeRawBufferPointer, edges: [RecordEdge]
  ) throws {}
}
