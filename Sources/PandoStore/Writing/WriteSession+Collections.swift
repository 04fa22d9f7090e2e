import PandoLMDB
import PandoModels
import PandoRecords

extension WriteSession {
  /// Encodes and stores future elements: nodes become asked for, other values are only encoded.
  ///
  /// All are encoded before the first row is written.
  func elements(_ models: [some SimpleModel & Encodable]) throws -> [CollectionElement] {
    var elements: [CollectionElement] = []
    elements.reserveCapacity(models.count)
    try collecting { collector in
      let encoder = RecordEncoder(sink: collector)
      for model in models {
        if model.modelIdentifier == nil {
          elements.append(.value(try encoder.encodeValue(model).body))
        } else {
          elements.append(.node(try encoder.encode(model)))
        }
      }
      try store(collector, elements)
    }
    state.content?.setElements(models)
    return elements
  }

  /// The same for untyped values: nodes, references to stored ones, or others.
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
    // Nodes that are only referenced have no record here.
    for node in listed where collector.namesStoredNodes { try markAskedFor(node) }
  }

  /// Replaces all elements; creates the collection if absent.
  func setCollection(
    _ cacheKey: String, to elements: @autoclosure () throws -> [CollectionElement]
  ) throws {
    _ = try CollectionKey(cacheKey)
    let elements = try elements()
    let (list, isNew) = try openList(cacheKey)
    let old = try reading { try $0.elements(of: cacheKey, in: nil) { $0 } } ?? []
    if old == elements, !isNew { return }
    if elements.isEmpty, !isNew { state.frees = true }
    try countOccurrences(of: old, in: list, by: -1)
    try withTransaction { try list.removeAll(in: &$0) }
    try insertRows(elements, at: 0, in: list)
    state.content?.replace(cacheKey)
    state.changes.reset(collection: cacheKey)
  }

  /// Inserts elements; if `index` is nil, appends them and creates the collection if absent.
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

  /// Creates a collection without elements, or empties the existing one.
  ///
  /// A new one is not reported; its next elements are.
  func makeEmptyCollection(_ cacheKey: String) throws {
    if try openList(cacheKey).isNew { return }
    try setCollection(cacheKey, to: [])
  }

  private func append(
    _ elements: @autoclosure () throws -> [CollectionElement], toCollection cacheKey: String
  ) throws {
    _ = try CollectionKey(cacheKey)
    let elements = try elements()
    let (list, isNew) = try openList(cacheKey)
    // Insertions of elements report a new list themselves.
    if isNew, elements.isEmpty { state.changes.reset(collection: cacheKey) }
    try insert(elements, at: count(of: list), in: list, cacheKey)
  }

  private func insert(
    _ elements: [CollectionElement], at index: Int, in list: CountedList, _ cacheKey: String
  ) throws {
    try insertRows(elements, at: index, in: list)
    state.content?.insert(into: cacheKey)
    state.notes?.bring(elements, into: cacheKey)
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
    state.adds = true
    try countOccurrences(of: [old], in: list, by: -1)
    try changing(list, by: 1) { transaction, note in
      try list.replace(at: index, with: element.bytes.span, in: &transaction, noting: note)
    }
    state.content?.insert(into: cacheKey)
    state.notes?.bring([element], into: cacheKey)
    state.changes.change(collection: cacheKey, [.update(index: index)])
  }

  func moveElement(from source: Int, to target: Int, inCollection cacheKey: String) throws {
    let list = try existingList(cacheKey)
    let count = try count(of: list)
    for position in [source, target] where !(0..<count).contains(position) {
      throw StoreError.outOfRange("\(position)", of: cacheKey, count: count)
    }
    guard source != target else { return }
    try changing(list, by: 0) { transaction, note in
      try list.move(from: source, to: target, in: &transaction, noting: note)
    }
    state.adds = true
    state.changes.change(collection: cacheKey, [.move(from: source, to: target)])
  }

  func removeElements(in range: Range<Int>, fromCollection cacheKey: String) throws {
    let list = try existingList(cacheKey)
    guard let old = try reading({ try $0.elements(of: cacheKey, in: range) { $0 } }) else {
      return
    }
    try countOccurrences(of: old, in: list, by: -1)
    try changing(list, by: 0) { transaction, note in
      try list.remove(in: range, in: &transaction, noting: note)
    }
    if !range.isEmpty { state.frees = true }
    state.changes.change(collection: cacheKey, range.reversed().map { .delete(index: $0) })
  }

  /// Removes a collection with its key; its nodes stay.
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
    state.frees = true
    state.content?.mix(cacheKey)
    state.changes.reset(collection: cacheKey)
    return true
  }

  /// Removes doomed nodes from a collection; their index rows are removed with the nodes.
  ///
  /// - Returns: The cache key.
  func loseElements(_ doomed: Set<UInt64>, inCollection number: UInt64) throws -> String {
    let cacheKey = try reading { try $0.cacheKey(ofCollection: number) }
    let list = CountedList(table: tables.elements, number: number)
    // The number of elements with doomed nodes, and their leaves, so that the others are not read.
    // Each node costs a search, so this is limited to a few nodes.
    var remaining = Int.max
    var leaves: [UInt64]?
    if doomed.count <= Self.countedDoomedNodesMaximum {
      (remaining, leaves) = try reading { reader in
        var (count, leaves): (Int, [UInt64]?) = (0, [])
        for node in doomed {
          let occurrence = try reader.occurrence(of: node, inCollection: number)
          count += occurrence.count
          if let leaf = occurrence.leaf {
            leaves?.append(leaf)
          } else if occurrence.count > 0 {
            leaves = nil
          }
        }
        return (count, leaves)
      }
    }
    try loseElements(doomed, in: list, cacheKey, leaves, &remaining)
    // They can be elsewhere only in a damaged store.
    if leaves != nil, remaining > 0 {
      try loseElements(doomed, in: list, cacheKey, nil, &remaining)
    }
    return cacheKey
  }

  /// Removes doomed nodes from some or all leaves of a list; `remaining` are those not found.
  private func loseElements(
    _ doomed: Set<UInt64>, in list: CountedList, _ cacheKey: String, _ leaves: [UInt64]?,
    _ remaining: inout Int
  ) throws {
    var changes: [CollectionChangeInformation] = []
    var replaced: [(old: CollectionElement, new: CollectionElement?)] = []
    var hasChangedValues = false
    let only = doomed.count == 1 ? doomed.first : nil
    var left = remaining
    // A new element replaces a value, and is counted below.
    _ = try changing(list, by: 0) { transaction, note in
      try list.edit(
        in: &transaction, leaves: leaves,
        where: { _, items, count in
          if left <= 0 { return true }
          return only.map { CollectionElement.items(items, count: count, mayHold: $0) } ?? true
        }, noting: note
      ) { index, bytes in
        if left <= 0 { return .keepRest }
        if let node = CollectionElement.node(bytes) {
          // One number is compared faster than looked up.
          if let only {
            if node != only { return .keep }
          } else if !doomed.contains(node) {
            return .keep
          }
        }
        let element = try CollectionElement(bytes, of: cacheKey)
        left -= try element.children().intersection(doomed).count
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
    remaining = left
    for (old, new) in replaced {
      let lost = try old.children().subtracting(new?.children() ?? [])
      for child in lost { try countOccurrence(of: child, in: list, by: -1) }
    }
    if hasChangedValues {
      state.content?.mix(cacheKey)
      // In the order of the steps.
      state.notes?.bring(replaced.reversed().compactMap(\.new), into: cacheKey)
    }
    state.changes.change(collection: cacheKey, changes.reversed())
  }

  private static let countedDoomedNodesMaximum = 16

  /// The result of removing doomed nodes from an element.
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

  /// The list of a cache key; created if there is none.
  private func openList(_ cacheKey: String) throws -> (list: CountedList, isNew: Bool) {
    if let list = try reading({ try $0.list(cacheKey) }) { return (list, false) }
    let number = state.counters.nextCollection
    guard number <= RecordKey.nodeMaximum else {
      throw StoreError(.invalidModel, cacheKey, "the store has given out all collection numbers")
    }
    state.counters.nextCollection += 1
    let key = try CollectionKey(cacheKey)
    let numberKey = IntegerKey(number)
    let value = [UInt8](littleEndian: number)
    try put(value.span, forKey: key.bytes.span, in: tables.collections)
    let name = cacheKey.utf8Span.span
    try put(name, forKey: numberKey.bytes.span, in: tables.collectionNames)
    state.adds = true
    state.notes?.newLists.insert(cacheKey)
    return (CountedList(table: tables.elements, number: number), true)
  }

  private func insertRows(
    _ elements: [CollectionElement], at index: Int, in list: CountedList
  ) throws {
    guard !elements.isEmpty else { return }
    state.adds = true
    let rows = elements.map(\.bytes)
    try changing(list, by: 1) { transaction, note in
      try list.insert(contentsOf: rows, at: index, in: &transaction, noting: note)
    }
  }

  /// Changes an ordered list, and corrects the index rows of elements that moved to another leaf.
  ///
  /// - Parameters:
  ///   - list: The list.
  ///   - difference: The change in the number of elements for the nodes of new elements.
  ///   - body: Changes the list.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; ``StoreError`` for damaged rows.
  private func changing<Result>(
    _ list: CountedList, by difference: Int,
    _ body: (inout WriteTransaction, (CountedList.LeafMove) -> Void) throws -> Result
  ) throws -> Result {
    var moves: [CountedList.LeafMove] = []
    let result = try withTransaction { try body(&$0) { moves.append($0) } }
    try correctOccurrences(after: moves, in: list, by: difference)
    return result
  }

  /// Corrects the index rows of moved elements; not generic, so compiled once.
  @inline(never)
  private func correctOccurrences(
    after moves: [CountedList.LeafMove], in list: CountedList, by difference: Int
  ) throws {
    for move in moves {
      let difference = move.isNew ? difference : 0
      try move.forEach { bytes in
        if let node = CollectionElement.node(bytes) {
          return try countOccurrence(of: node, in: list, by: difference, move.block)
        }
        for child in try CollectionElement(bytes, of: "collection \(list.number)").children() {
          try countOccurrence(of: child, in: list, by: difference, move.block)
        }
      }
    }
  }

  /// Corrects the index rows of the nodes in elements.
  private func countOccurrences(
    of elements: [CollectionElement], in list: CountedList, by difference: Int
  ) throws {
    for element in elements {
      for child in try element.children() {
        try countOccurrence(of: child, in: list, by: difference)
      }
    }
  }

  /// Inserts the index row of a node in a new element.
  ///
  /// - Returns: The existing row, unchanged; `nil` if there was none.
  private func insertOccurrence(
    _ occurrence: Occurrence, forKey key: ParentKey
  ) throws -> Occurrence? {
    let bytes = occurrence.bytes
    let found = try insertRow(bytes.span, forKey: key.bytes.span, in: tables.parents) { found in
      Occurrence(found)
    }
    switch found {
    case .none:
      return nil
    case .some(.none):
      throw StoreError.damaged("collections", "a row of the dependency index is malformed")
    case .some(let known): return known
    }
  }

  /// Corrects the index row of a node in a new, removed or moved element.
  ///
  /// - Parameters:
  ///   - child: The node.
  ///   - list: The list.
  ///   - difference: The change in its number of elements.
  ///   - block: The block of its only element, if known.
  /// - Throws: ``StoreError`` for a damaged row.
  private func countOccurrence(
    of child: UInt64, in list: CountedList, by difference: Int,
    _ block: UInt64 = CountedList.rootBlock
  ) throws {
    let parent = RecordKey(collection: list.number)
    let key = ParentKey(child: child, parent: parent)
    var stored = Occurrence(count: 0)
    if difference == 1 {
      // Most new nodes are in the list for the first time: then one search is enough.
      let first = Occurrence(inBlock: block)
      guard let found = try insertOccurrence(first, forKey: key) else { return }
      stored = found
    } else {
      stored = try reading { try $0.occurrence(of: child, inCollection: list.number) }
    }
    let count = stored.count + difference
    guard count > 0 else {
      if difference < 0 { try deleteRow(key.bytes.span, in: tables.parents) }
      return
    }
    let occurrence = count == 1 ? Occurrence(inBlock: block) : Occurrence(count: count)
    if occurrence == stored { return }
    try put(occurrence.bytes.span, forKey: key.bytes.span, in: tables.parents)
  }
}
