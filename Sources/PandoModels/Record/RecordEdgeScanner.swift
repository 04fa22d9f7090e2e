/// Walks a body and collects the references in it.
struct RecordEdgeScanner {
  private var cursor: RecordCursor
  private var edges: [RecordEdge] = []

  init(_ cursor: RecordCursor) {
    self.cursor = cursor
  }

  /// Walks the whole body.
  ///
  /// - Returns: One edge for each distinct reference.
  mutating func scan() throws(RecordFault) -> [RecordEdge] {
    try scan(.root, depth: 0)
    try cursor.finish()
    edges.normalize()
    return edges
  }

  private mutating func scan(_ place: RecordPlace, depth: Int) throws(RecordFault) {
    guard depth <= RecordBody.maximumNestingDepth else { throw .nestingTooDeep }
    let head = try cursor.head()
    switch head.major {
    case .text, .bytes:
      unsafe cursor.content(head)
    case .array:
      for _ in 0..<head.argument { try scan(.element, depth: depth + 1) }
    case .map:
      try scanFields(Int(head.argument), .field, depth: depth)
    case .tag:
      try scan(tag: head.argument, place, depth: depth)
    case .unsigned, .negative, .simple:
      break
    }
  }

  private mutating func scan(
    tag: UInt64, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) {
    switch tag {
    case RecordTag.requiredReference:
      edges.append(RecordEdge(child: try cursor.reference(), kinds: place.kindOfRequired))
    case RecordTag.optionalReference:
      edges.append(RecordEdge(child: try cursor.reference(), kinds: .optional))
    case RecordTag.optionalSlot:
      try scanFields(cursor.mapCount(), .field, depth: depth)
    case RecordTag.entries:
      try scanFields(cursor.mapCount(), .entry, depth: depth)
    default:
      try scan(place, depth: depth + 1)
    }
  }

  private mutating func scanFields(
    _ count: Int, _ place: RecordPlace, depth: Int
  ) throws(RecordFault) {
    for _ in 0..<count {
      try cursor.skip()
      try scan(place, depth: depth + 1)
    }
  }
}
