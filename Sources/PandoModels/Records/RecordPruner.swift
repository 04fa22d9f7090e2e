/// Copies a body without the values that are lost with some children.
struct RecordPruner: ~Copyable {
  /// The result for an item.
  private enum Fate {
    /// Written, with or without a reference inside.
    case kept(hasReference: Bool)
    /// Replaced with null.
    case nulled
    /// Lost with its surrounding value, so the written part of that is to be discarded.
    case lost
  }

  private var cursor: RecordCursor
  private let children: Set<UInt64>
  /// The places of references that stay.
  private let kept: [Range<Int>]
  private var output: CBORWriter

  init(_ cursor: RecordCursor, children: Set<UInt64>, keeping kept: [Range<Int>]) {
    self.cursor = cursor
    self.children = children
    self.kept = kept
    output = CBORWriter(minimumCapacity: cursor.byteCount)
  }

  /// Copies the whole body.
  mutating func prune() throws(RecordFault) -> RecordLoss {
    let fate = try copy(depth: 0)
    try cursor.finish()
    return if case .kept = fate { .changed(output.bytes) } else { .lost }
  }

  private mutating func copy(depth: Int) throws(RecordFault) -> Fate {
    let start = cursor.position
    switch try cursor.item(atDepth: depth) {
    case .scalar:
      append(from: start)
      return .kept(hasReference: false)
    case .reference(let child, let isOptional)
    where children.contains(child.node) && !kept.contains { $0.contains(start) }:
      return isOptional ? appendNull() : .lost
    case .reference:
      append(from: start)
      return .kept(hasReference: true)
    case .list(let count):
      return try copyElements(count, .array, depth: depth)
    case .entries(let count):
      return try copyElements(count, .map, depth: depth)
    case .fields(let count, let isOptional):
      return try copyFields(count, isOptional: isOptional, depth: depth)
    case .tagged(let tag):
      output.append(tag: tag)
      let fate = try copy(depth: depth + 1)
      guard case .kept = fate else { throw cursor.damaged("a reference inside of a tag") }
      return fate
    }
  }

  /// Copies a list or entries without the lost elements.
  @inline(never)
  private mutating func copyElements(
    _ count: Int, _ major: CBORHead.Major, depth: Int
  ) throws(RecordFault) -> Fate {
    let start = output.count
    var keptCount = 0
    var hasReference = false
    for _ in 0..<count {
      let elementStart = output.count
      if major == .map { try copyKey() }
      if case .kept(let holdsOne) = try copy(depth: depth + 1) {
        keptCount += 1
        hasReference = hasReference || holdsOne
      } else {
        output.truncate(to: elementStart)
      }
    }
    output.insertHead(major, UInt64(keptCount), at: start)
    if hasReference, major == .map { output.insertHead(.tag, RecordTag.entries, at: start) }
    return .kept(hasReference: hasReference)
  }

  @inline(never)
  private mutating func copyFields(
    _ count: Int, isOptional: Bool, depth: Int
  ) throws(RecordFault) -> Fate {
    let start = output.count
    output.append(mapHead: count)
    var hasReference = false
    var isLost = false
    for _ in 0..<count {
      try copyKey()
      switch try copy(depth: depth + 1) {
      case .kept(let holdsOne): hasReference = hasReference || holdsOne
      case .nulled: break
      case .lost: isLost = true  // go on: the cursor has to pass the rest
      }
    }
    guard isOptional else { return isLost ? .lost : .kept(hasReference: hasReference) }
    if isLost {
      output.truncate(to: start)
      return appendNull()
    }
    // The tag is only around values with references.
    if hasReference { output.insertHead(.tag, RecordTag.optionalSlot, at: start) }
    return .kept(hasReference: hasReference)
  }

  private mutating func copyKey() throws(RecordFault) {
    // The bytes outlive the cursor and are copied here.
    unsafe output.append(raw: cursor.slice(try cursor.skip()))
  }

  private mutating func append(from start: Int) {
    // Same as above.
    unsafe output.append(raw: cursor.slice(start..<cursor.position))
  }

  private mutating func appendNull() -> Fate {
    output.appendNull()
    return .nulled
  }
}
