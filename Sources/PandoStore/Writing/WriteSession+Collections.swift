import PandoLMDB
import PandoModels

extension WriteSession {
  /// Encodes and stores what will be elements: nodes are asked for, other values are kept as they are.
  ///
  /// All are encoded before the first row is written.
  func elements(_ models: [some SimpleModel & Encodable]) throws -> [CollectionElement] {
    let collector = RecordCollector(self)
    let encoder = RecordEncoder(sink: collector)
    var elements: [CollectionElement] = []
    elements.reserveCapacity(models.count)
    for model in models {
      if model.modelIdentifier == nil {
        elements.append(.value(try encoder.encodeValue(model).body))
      } else {
        elements.append(.node(try encoder.encode(model)))
      }
    }
    try store(collector, elements)
    state.content?.setElements(models)
    return elements
  }

  /// The same for untyped values: nodes, references to stored ones, or any other.
  func elements(_ values: [TreeValue]) throws -> [CollectionElement] {
    let collector = RecordCollector(self)
    var encoder = TreeEncoder(sink: collector)
    var elements: [CollectionElement] = []
    elements.reserveCapacity(values.count)
    for value in values {
      switch value {
      case .node(let tree): elements.append(.node(try encoder.encode(tree)))
      case .reference(let identifier, let typeName):
        let reference = try collector.reference(identifier: identifier, typeName: typeName)
        elements.append(.node(reference))
      default: elements.append(.value(try encoder.encodeValue(value).body))
      }
    }
    try store(collector, elements)
    state.content?.mixElements(values)
    return elements
  }

  private func store(_ collector: RecordCollector, _ elements: [CollectionElement]) throws {
    var listed: Set<UInt64> = []
    for case .node(let reference) in elements { listed.insert(reference.node) }
    try unsafe store(
      collector.pending, mayCloseCycle: collector.namesStoredNodes, listed: listed)
    // Those that are only referred to have no record here.
    for node in listed where collector.namesStoredNodes { try markAskedFor(node) }
  }

  /// Replaces all elements, and creates the collection where there is none.
  func setCollection(
    _ cacheKey: String, to elements: @autoclosure () throws -> [CollectionElement]
  ) throws {
    _ = try CollectionKey(cacheKey)
    let elements = try elements()
    let (list, isNew) = try openList(cacheKey)
    let old = try reading { try $0.elements(of: cacheKey, in: nil) { $0 } } ?? []
    if old == elements, !isNew { return }
    try countOccurrences(of: old, in: list, by: -1)
    try withTransaction { try list.removeAll(in: &$0) }
    try insertRows(elements, at: 0, in: list)
    state.content?.replace(cacheKey)
    state.changes.reset(collection: cacheKey)
  }

  /// Inserts elements; `index` nil appends, and creates the collection where there is none.
  func insert(
    _ elements: @autoclosure () throws -> [CollectionElement], at index: Int?,
    inCollection cacheKey: String
  ) throws {
    guard let index else { return try append(elements(), toCollection: cacheKey) }
    let list = try existingList(cacheKey)
    let count = try count(of: list)
    guard (0...count).contains(index) else {
      throw StoreError.outOfRange("\(index)", of: cacheKey, count: count)
    }
    try insert(elements(), at: index, in: list, cacheKey)
  }

  private func append(
    _ elements: @autoclosure () throws -> [CollectionElement], toCollection cacheKey: String
  ) throws {
    _ = try CollectionKey(cacheKey)
    let elements = try elements()
    let list = try openList(cacheKey).list
    try insert(elements, at: count(of: list), in: list, cacheKey)
  }

  private func insert(
    _ elements: [CollectionElement], at index: Int, in list: CountedList, _ cacheKey: String
  ) throws {
    try insertRows(elements, at: index, in: list)
    state.content?.insert(into: cacheKey)
    state.changes.change(
      collection: cacheKey, elements.indices.map { .insert(index: index + $0) })
  }

  func update(
    _ element: @autoclosure () throws -> CollectionElement, at index: Int,
    inCollection cacheKey: String
  ) throws {
    let list = try existingList(cacheKey)
    let old = try self.element(at: index, of: list, cacheKey)
    let element = try element()
    guard old != element else { return }
    try countOccurrences(of: [old], in: list, by: -1)
    try withTransaction { try list.replace(at: index, with: element.bytes.span, in: &$0) }
    try countOccurrences(of: [element], in: list, by: 1)
    state.content?.insert(into: cacheKey)
    state.changes.change(collection: cacheKey, [.update(index: index)])
  }

  func moveElement(from source: Int, to target: Int, inCollection cacheKey: String) throws {
    let list = try existingList(cacheKey)
    let count = try count(of: list)
    for position in [source, target] where !(0..<count).contains(position) {
      throw StoreError.outOfRange("\(position)", of: cacheKey, count: count)
    }
    guard source != target else { return }
    try withTransaction { try list.move(from: source, to: target, in: &$0) }
    state.changes.change(collection: cacheKey, [.move(from: source, to: target)])
  }

  func removeElements(in range: Range<Int>, fromCollection cacheKey: String) throws {
    let list = try existingList(cacheKey)
    guard let old = try reading({ try $0.elements(of: cacheKey, in: range) { $0 } }) else {
      return
    }
    try countOccurrences(of: old, in: list, by: -1)
    try withTransaction { try list.remove(in: range, in: &$0) }
    state.changes.change(collection: cacheKey, range.reversed().map { .delete(index: $0) })
  }

  /// Removes a collection with its key; the nodes it listed stay.
  ///
  /// - Returns: Whether there was one.
  func removeCollection(_ cacheKey: String) throws -> Bool {
    guard let list = try reading({ try $0.list(cacheKey) }) else { return false }
    let old = try reading { try $0.elements(of: cacheKey, in: nil) { $0 } } ?? []
    try countOccurrences(of: old, in: list, by: -1)
    try withTransaction { try list.removeAll(in: &$0) }
    let key = try reading { try $0.collectionKey(cacheKey) }
    let number = IntegerKey(list.number)
    try deleteRow(key.span, in: tables.collections)
    try deleteRow(number.bytes.span, in: tables.collectionNames)
    if key.count > IdentifierKey.shortByteCountMaximum { try chooseFormat() }
    state.content?.mix(cacheKey)
    state.changes.reset(collection: cacheKey)
    return true
  }

  /// Takes doomed nodes out of a collection; their index rows go with the nodes.
  ///
  /// - Returns: The cache key.
  func loseElements(_ doomed: Set<UInt64>, inCollection number: UInt64) throws -> String {
    let cacheKey = try reading { try $0.cacheKey(ofCollection: number) }
    let list = CountedList(table: tables.elements, number: number)
    var changes: [CollectionChangeInformation] = []
    var replaced: [(old: CollectionElement, new: CollectionElement?)] = []
    var hasChangedValues = false
    // In how many elements the doomed nodes are: behind the last of them nobody need look. To count
    // them costs a search for each, so that is done for few only.
    var remaining = Int.max
    if doomed.count <= Self.countedDoomedNodesMaximum {
      remaining = try reading { reader in
        try doomed.reduce(0) { try $0 + reader.occurrenceCount(of: $1, inCollection: number) }
      }
    }
    let only = doomed.count == 1 ? doomed.first : nil
    try withTransaction { transaction in
      _ = try list.edit(
        in: &transaction,
        where: { items, count in
          if remaining <= 0 { return true }
          return only.map { CollectionElement.items(items, count: count, mayHold: $0) } ?? true
        }
      ) { index, bytes in
        if remaining <= 0 { return .keepRest }
        if let node = CollectionElement.node(bytes), !doomed.contains(node) { return .keep }
        let element = try CollectionElement(bytes, of: cacheKey)
        remaining -= try element.children().intersection(doomed).count
        switch try Self.loss(of: element, doomed) {
        case .unchanged: return .keep
        case .lost:
          replaced.append((element, nil))
          changes.append(.delete(index: index))
          return .remove
        case .changed(let body):
          let remaining = CollectionElement.value(body)
          hasChangedValues = true
          replaced.append((element, remaining))
          changes.append(.update(index: index))
          return .replace(remaining.bytes)
        }
      }
    }
    for (old, new) in replaced {
      try countOccurrences(of: [old], in: list, by: -1)
      if let new { try countOccurrences(of: [new], in: list, by: 1) }
    }
    if hasChangedValues { state.content?.mix(cacheKey) }
    state.changes.change(collection: cacheKey, changes.reversed())
    return cacheKey
  }

  private static let countedDoomedNodesMaximum = 16

  /// What becomes of an element without doomed nodes.
  private static func loss(
    of element: CollectionElement, _ doomed: Set<UInt64>
  ) throws -> RecordLoss {
    switch element {
    case .node(let reference): doomed.contains(reference.node) ? .lost : .unchanged
    case .value(let body): try RecordBody.losing(doomed, in: body.span)
    }
  }
}

extension WriteSession {
  private func count(of list: CountedList) throws -> Int {
    try reading { try list.count(in: $0.snapshot) }
  }

  private func element(
    at index: Int, of list: CountedList, _ cacheKey: String
  ) throws -> CollectionElement {
    let count = try count(of: list)
    guard (0..<count).contains(index) else {
      throw StoreError.outOfRange("\(index)", of: cacheKey, count: count)
    }
    return try reading { reader in
      let bytes = try list.element(at: index, in: reader.snapshot)
      return try CollectionElement(bytes, of: cacheKey)
    }
  }

  private func existingList(_ cacheKey: String) throws -> CountedList {
    guard let list = try reading({ try $0.list(cacheKey) }) else {
      throw StoreError(
        .noSuchCollection, cacheKey, "there is no such collection; set it or append to it first")
    }
    return list
  }

  /// The list of a cache key, made now if there is none.
  private func openList(_ cacheKey: String) throws -> (list: CountedList, isNew: Bool) {
    if let list = try reading({ try $0.list(cacheKey) }) { return (list, false) }
    let number = state.counters.nextCollection
    guard number <= RecordKey.nodeMaximum else {
      throw StoreError(.invalidModel, cacheKey, "the store has given out all collection numbers")
    }
    state.counters.nextCollection += 1
    let key = try CollectionKey(cacheKey)
    let numberKey = IntegerKey(number)
    var value: [UInt8] = []
    ByteFields.append(number, width: 8, to: &value)
    try put(value.span, forKey: key.bytes.span, in: tables.collections)
    let name = cacheKey.utf8Span.span
    try put(name, forKey: numberKey.bytes.span, in: tables.collectionNames)
    if key.isLong { state.counters.formatVersion = StoreState.formatVersion }
    state.changes.reset(collection: cacheKey)
    return (CountedList(table: tables.elements, number: number), true)
  }

  private func insertRows(
    _ elements: [CollectionElement], at index: Int, in list: CountedList
  ) throws {
    guard !elements.isEmpty else { return }
    let rows = elements.map(\.bytes)
    try withTransaction { try list.insert(contentsOf: rows, at: index, in: &$0) }
    try countOccurrences(of: elements, in: list, by: 1)
  }

  /// Corrects the index rows of nodes that elements list or hold.
  private func countOccurrences(
    of elements: [CollectionElement], in list: CountedList, by difference: Int
  ) throws {
    for element in elements {
      for child in try element.children() {
        try countOccurrence(of: child, in: list, by: difference)
      }
    }
  }

  private func countOccurrence(
    of child: UInt64, in list: CountedList, by difference: Int
  ) throws {
    let parent = RecordKey(collection: list.number)
    let key = ParentKey(child: child, parent: parent)
    let stored = try reading { try $0.occurrenceCount(of: child, inCollection: list.number) }
    let count = stored + difference
    guard count > 0 else {
      try deleteRow(key.bytes.span, in: tables.parents)
      return
    }
    var value: [UInt8] = []
    ByteFields.append(UInt64(count), width: ParentKey.occurrenceByteCount, to: &value)
    try put(value.span, forKey: key.bytes.span, in: tables.parents)
  }
}
