/// Copies a body and leaves out what is lost with some children.
struct RecordPruner: ~Copyable {
  /// What became of an item.
  private enum Fate {
    /// It was written, and holds a reference or not.
    case kept(hasReference: Bool)
    /// A null was written in its place.
    case nulled
    /// It takes along what it stands in; what was written of it is to be dropped.
    case lost
  }

  private var cursor: RecordCursor
  private let children: Set<UInt64>
  private var output: CBORWriter

  init(_ cursor: RecordCursor, children: Set<UInt64>) {
    self.cursor = cursor
    self.children = children
    output = CBORWriter(minimumCapacity: cursor.byteCount)
  }

  /// Copies the whole body.
  mutating func prune() throws(RecordFault) -> RecordLoss {
    let fate = try copy(depth: 0)
    try cursor.finish()
    return if case .kept = fate { .changed(output.bytes) } else { .lost }
  }

  private mutating func copy(depth: Int) throws(RecordFault) -> Fate {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let start = cursor.position
    let head = try cursor.head()
    switch head.major {
    case .text, .bytes:
      unsafe cursor.content(head)
    case .array:
      return try copyArray(Int(head.argument), depth: depth)
    case .map:
      return try copyObject(Int(head.argument), depth: depth)
    case .tag:
      return try copyTagged(head.argument, from: start, depth: depth)
    case .unsigned, .negative, .simple:
      break
    }
    append(from: start)
    return .kept(hasReference: false)
  }

  private mutating func copyArray(_ count: Int, depth: Int) throws(RecordFault) -> Fate {
    let start = output.count
    var keptCount = 0
    var hasReference = false
    for _ in 0..<count {
      let mark = output.count
      if case .kept(let holdsOne) = try copy(depth: depth + 1) {
        keptCount += 1
        hasReference = hasReference || holdsOne
      } else {
        output.truncate(to: mark)
      }
    }
    output.insertHead(.array, UInt64(keptCount), at: start)
    return .kept(hasReference: hasReference)
  }

  private mutating func copyObject(_ count: Int, depth: Int) throws(RecordFault) -> Fate {
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
    return isLost ? .lost : .kept(hasReference: hasReference)
  }

  private mutating func copyEntries(_ count: Int, depth: Int) throws(RecordFault) -> Fate {
    let start = output.count
    var keptCount = 0
    var hasReference = false
    for _ in 0..<count {
      let mark = output.count
      try copyKey()
      if case .kept(let holdsOne) = try copy(depth: depth + 1) {
        keptCount += 1
        hasReference = hasReference || holdsOne
      } else {
        output.truncate(to: mark)
      }
    }
    output.insertHead(.map, UInt64(keptCount), at: start)
    if hasReference { output.insertHead(.tag, RecordTag.entries, at: start) }
    return .kept(hasReference: hasReference)
  }

  private mutating func copyTagged(
    _ tag: UInt64, from start: Int, depth: Int
  ) throws(RecordFault) -> Fate {
    switch tag {
    case RecordTag.requiredReference:
      guard try !children.contains(cursor.reference().node) else { return .lost }
      append(from: start)
      return .kept(hasReference: true)
    case RecordTag.optionalReference:
      guard try !children.contains(cursor.reference().node) else { return appendNull() }
      append(from: start)
      return .kept(hasReference: true)
    case RecordTag.optionalSlot:
      return try copyOptionalSlot(depth: depth)
    case RecordTag.entries:
      return try copyEntries(cursor.mapCount(), depth: depth)
    default:
      output.append(tag: tag)
      let fate = try copy(depth: depth + 1)
      guard case .kept = fate else { throw cursor.damaged("a reference inside of a tag") }
      return fate
    }
  }

  private mutating func copyOptionalSlot(depth: Int) throws(RecordFault) -> Fate {
    let start = output.count
    let fate = try copyObject(cursor.mapCount(), depth: depth)
    guard case .kept(let hasReference) = fate else {
      output.truncate(to: start)
      return appendNull()
    }
    // The tag is written only around what can be lost.
    if hasReference { output.insertHead(.tag, RecordTag.optionalSlot, at: start) }
    return fate
  }

  private mutating func copyKey() throws(RecordFault) {
    // The bytes outlive the cursor, and are copied at once.
    unsafe output.append(raw: cursor.slice(try cursor.skip()))
  }

  private mutating func append(from start: Int) {
    // As above.
    unsafe output.append(raw: cursor.slice(start..<cursor.position))
  }

  private mutating func appendNull() -> Fate {
    output.appendNull()
    return .nulled
  }
}
