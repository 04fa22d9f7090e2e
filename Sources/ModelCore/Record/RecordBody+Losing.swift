extension RecordBody {
  /// Takes deleted children out of a body.
  ///
  /// An optional slot becomes null, an array or a dictionary loses the element, an object that
  /// loses a required slot is lost itself, and so on outward: to the next optional slot, array or
  /// dictionary around it, or to the body.
  ///
  /// - Parameters:
  ///   - children: The numbers of the nodes that are deleted.
  ///   - body: A record body; read during the call only.
  /// - Returns: What becomes of the record.
  /// - Throws: ``ModelError`` when the bytes are no record body.
  /// - Complexity: O(*n* log *n*) for *n* bytes.
  /// - Note: The elements of a set stay in the order of their bytes before the loss.
  package static func losing(
    children: Set<UInt64>, in body: UnsafeRawBufferPointer
  ) throws(ModelError) -> RecordLoss {
    let edges = unsafe try edges(in: body)
    guard edges.contains(where: { children.contains($0.child.node) }) else { return .unchanged }
    // Read during the call only.
    let cursor = RecordCursor(unsafe Span(_unsafeBytes: body))
    var pruner = RecordPruner(cursor, children: children)
    switch try pruner.copy(depth: 0) {
    case .lost, .nulled: return .lost
    case .kept: return .changed(pruner.output)
    }
  }
}

/// Copies a body and leaves out what is lost with some children.
struct RecordPruner: ~Escapable {
  /// What became of an item.
  enum Fate {
    /// It was written, and holds a reference or not.
    case kept(hasReference: Bool)
    /// A null was written in its place.
    case nulled
    /// It takes along what it stands in; what was written of it is to be dropped.
    case lost
  }

  private var cursor: RecordCursor
  private let children: Set<UInt64>
  private(set) var output: [UInt8] = []

  @_lifetime(copy cursor)
  init(_ cursor: consuming RecordCursor, children: Set<UInt64>) {
    self.children = children
    self.cursor = cursor
    output.reserveCapacity(self.cursor.bytes.count)
  }

  /// Copies the next item.
  mutating func copy(depth: Int) throws(ModelError) -> Fate {
    guard depth <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    let start = cursor.position
    let head = try cursor.head()
    switch head.major {
    case 2, 3:
      _ = try cursor.content(head)
    case 4:
      return try copyArray(cursor.count(head), depth: depth)
    case 5:
      return try copyObject(cursor.count(head), depth: depth)
    case 6:
      return try copyTagged(head.argument, from: start, depth: depth)
    default:
      break
    }
    append(from: start)
    return .kept(hasReference: false)
  }

  private mutating func copyArray(_ count: Int, depth: Int) throws(ModelError) -> Fate {
    let start = output.count
    output.appendHead(major: 4, UInt64(count))
    var keptCount = 0
    var hasReference = false
    for _ in 0..<count {
      let mark = output.count
      if case .kept(let holdsOne) = try copy(depth: depth + 1) {
        keptCount += 1
        hasReference = hasReference || holdsOne
      } else {
        output.removeLast(output.count - mark)
      }
    }
    output.replaceHead(at: start, major: 4, UInt64(count), with: UInt64(keptCount))
    return .kept(hasReference: hasReference)
  }

  private mutating func copyObject(_ count: Int, depth: Int) throws(ModelError) -> Fate {
    output.appendHead(major: 5, UInt64(count))
    var hasReference = false
    var isLost = false
    for _ in 0..<count {
      let key = cursor.position
      try cursor.skip()
      append(from: key)
      switch try copy(depth: depth + 1) {
      case .kept(let holdsOne): hasReference = hasReference || holdsOne
      case .nulled: break
      case .lost: isLost = true  // go on: the cursor has to pass the rest
      }
    }
    return isLost ? .lost : .kept(hasReference: hasReference)
  }

  private mutating func copyTagged(
    _ tag: UInt64, from start: Int, depth: Int
  ) throws(ModelError) -> Fate {
    switch tag {
    case RecordTag.requiredReference:
      let reference = try cursor.reference()
      guard !children.contains(reference.node) else { return .lost }
      append(from: start)
      return .kept(hasReference: true)
    case RecordTag.optionalReference:
      let reference = try cursor.reference()
      guard !children.contains(reference.node) else { return appendNull() }
      append(from: start)
      return .kept(hasReference: true)
    case RecordTag.optionalSlot:
      return try copyOptionalSlot(depth: depth)
    case RecordTag.entries:
      return try copyEntries(depth: depth)
    default:
      output.appendHead(major: 6, tag)
      let fate = try copy(depth: depth + 1)
      guard case .kept = fate else { throw cursor.damaged("a reference inside of a tag") }
      return fate
    }
  }

  private mutating func copyOptionalSlot(depth: Int) throws(ModelError) -> Fate {
    let mark = output.count
    output.appendHead(major: 6, RecordTag.optionalSlot)
    let content = output.count
    switch try copyObject(cursor.mapCount(), depth: depth) {
    case .kept(hasReference: true):
      return .kept(hasReference: true)
    case .kept(hasReference: false):
      // The tag is written only around what can be lost.
      output.removeSubrange(mark..<content)
      return .kept(hasReference: false)
    case .nulled, .lost:
      output.removeLast(output.count - mark)
      return appendNull()
    }
  }

  private mutating func copyEntries(depth: Int) throws(ModelError) -> Fate {
    let count = try cursor.mapCount()
    let mark = output.count
    output.appendHead(major: 6, RecordTag.entries)
    let start = output.count
    output.appendHead(major: 5, UInt64(count))
    var keptCount = 0
    var hasReference = false
    for _ in 0..<count {
      let entry = output.count
      let key = cursor.position
      try cursor.skip()
      append(from: key)
      if case .kept(let holdsOne) = try copy(depth: depth + 1) {
        keptCount += 1
        hasReference = hasReference || holdsOne
      } else {
        output.removeLast(output.count - entry)
      }
    }
    output.replaceHead(at: start, major: 5, UInt64(count), with: UInt64(keptCount))
    if !hasReference { output.removeSubrange(mark..<start) }
    return .kept(hasReference: hasReference)
  }

  private mutating func append(from start: Int) {
    output.appendPart(of: cursor.bytes, start..<cursor.position)
  }

  private mutating func appendNull() -> Fate {
    output.append(0xf6)
    return .nulled
  }
}
