/// The work of a ``TreeDecoder``, on a stack of its own: a deep tree cannot exhaust the thread's.
struct TreeBuilder {
  /// Something that is open: its values are being read.
  struct Frame {
    enum Kind {
      case body
      case node(TreeNode, Key, isRequired: Bool)
      case array
      case object(isRequired: Bool)
      case entries
      case tag(UInt64)

      /// Whether it counts as a level of nesting; bodies do not.
      var isLevel: Bool {
        switch self {
        case .body, .node: false
        case .array, .object, .entries, .tag: true
        }
      }
    }

    let kind: Kind
    /// How many items are to come; a map has two for each entry.
    var remaining: Int
    /// Where its values begin.
    let start: Int
    /// How many levels of nodes may be decoded below.
    let depth: Int
    /// The level around a node.
    var outerLevel = 0
    /// How many levels of nodes its values have.
    var height = 0
    var hasReference = false
  }

  /// A node that was decoded with as many levels below it.
  struct Key: Hashable {
    let reference: RecordReference
    let depth: Int
  }

  private var frames: [Frame] = []
  /// How many of the open frames of the innermost node are arrays, maps and tags.
  private var level = 0
  /// How many nodes are open.
  private var nodeLevel = 0
  /// Values that are complete, of all open frames.
  var values: [TreeValue] = []
  /// The bodies that are open.
  private var cursors: [RecordCursor] = []
  private var nodes: [Key: (value: TreeValue, height: Int)] = [:]

  /// Forgets what a failed run left.
  mutating func reset() {
    frames.removeAll()
    level = 0
    nodeLevel = 0
    values.removeAll()
    cursors.removeAll()
  }

  /// Opens a body that belongs to no node.
  mutating func open(_ body: UnsafeRawBufferPointer, depth: Int) {
    push(.body, remaining: 1, depth: depth)
    cursors.append(unsafe RecordCursor(body))
  }

  /// Opens a node.
  ///
  /// - Returns: The node if it is known already, or a reference if it has no body.
  mutating func open(
    _ reference: RecordReference, depth: Int, isRequired: Bool,
    _ resolve: TreeDecoder.Resolver
  ) throws -> TreeValue? {
    let key = Key(reference: reference, depth: depth)
    if let known = nodes[key] {
      guard nodeLevel + known.height <= RecordLimits.maximumNodeDepth else {
        throw EncodingSession.nodesTooDeep
      }
      if !frames.isEmpty { try note(height: known.height, hasReference: true) }
      return known.value
    }
    let record = try resolve(reference)
    guard depth >= 0, let body = unsafe record.body else {
      if !frames.isEmpty { try note(height: 0, hasReference: true) }
      return .reference(identifier: record.identifier, typeName: record.typeName)
    }
    guard nodeLevel < RecordLimits.maximumNodeDepth else { throw EncodingSession.nodesTooDeep }
    let node = TreeNode(record.identifier, type: record.typeName)
    push(.node(node, key, isRequired: isRequired), remaining: 1, depth: depth)
    // The resolver keeps the bytes until the run is over.
    cursors.append(unsafe RecordCursor(body))
    return nil
  }

  /// Decodes until all that is open is closed.
  mutating func run(_ resolve: TreeDecoder.Resolver) throws -> TreeValue {
    do {
      while let last = frames.indices.last {
        if frames[last].remaining > 0 { try readItem(resolve) } else { try closeLast() }
      }
    } catch let fault as RecordFault {
      throw about(fault.modelError)
    } catch let error as ModelError {
      throw about(error)
    }
    return values.removeLast()
  }

  /// Names the innermost node that is open.
  private func about(_ error: ModelError) -> ModelError {
    for frame in frames.reversed() {
      if case .node(let node, _, _) = frame.kind {
        return error.about(identifier: node.identifier, typeName: node.typeName)
      }
    }
    return error
  }

  private mutating func readItem(_ resolve: TreeDecoder.Resolver) throws {
    let slot = nextSlot
    let item = try cursors[cursors.count - 1].item(atDepth: level)
    frames[frames.count - 1].remaining -= 1
    switch item {
    case .scalar(let head):
      values.append(try scalar(head))
      try note(height: 0, hasReference: false)
    case .reference(let child, let isOptional):
      guard let slot else { throw damaged("a reference in a key") }
      let isRequired = slot == .field && !isOptional
      let depth = frames[frames.count - 1].depth
      // Without a limit all levels are alike.
      let below = depth == .max ? depth : depth - 1
      if let value = try open(child, depth: below, isRequired: isRequired, resolve) {
        values.append(isRequired ? .required(value) : value)
      }
    case .list(let count):
      push(.array, remaining: count)
    case .fields(let count, let isOptional):
      push(.object(isRequired: slot == .field && !isOptional), remaining: 2 * count)
    case .entries(let count):
      push(.entries, remaining: 2 * count)
    case .tagged(let tag):
      push(.tag(tag), remaining: 1)
    }
  }

  private func scalar(_ head: CBORHead) throws(RecordFault) -> TreeValue {
    switch head.major {
    case .unsigned:
      return Int64(exactly: head.argument).map(TreeValue.integer) ?? .unsigned(head.argument)
    case .negative:
      if let value = Int64(exactly: head.argument) { return .integer(~value) }
      // Below `Int64.min`: the form that longer integers have.
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: head.argument >> (56 - 8 * $0)) }
      return .tagged(RecordTag.negativeBignum, .bytes(bytes))
    case .bytes:
      // Copied at once.
      return .bytes(unsafe Array(cursors[cursors.count - 1].content(head)))
    case .text:
      return .string(try cursors[cursors.count - 1].text(head))
    default:
      if let value = head.double { return .double(value) }
      if let value = head.bool { return .bool(value) }
      guard head.isNull else { throw damaged("a simple value other than false, true and null") }
      return .null
    }
  }

  /// Where the next item stands; `nil` for the key of a map.
  private var nextSlot: RecordSlot? {
    guard let frame = frames.last else { return .root }
    switch frame.kind {
    case .body, .node: return .root
    case .array, .tag: return .element
    case .object: return frame.remaining.isMultiple(of: 2) ? nil : .field
    case .entries: return frame.remaining.isMultiple(of: 2) ? nil : .entry
    }
  }

  private mutating func push(_ kind: Frame.Kind, remaining: Int, depth: Int? = nil) {
    if kind.isLevel { level += 1 }
    let depth = depth ?? frames.last?.depth ?? 0
    frames.append(
      Frame(
        kind: kind, remaining: remaining, start: values.count, depth: depth, outerLevel: level))
    if case .node = kind {
      nodeLevel += 1
      level = 0
    }
  }

  /// Tells the innermost frame of a value that it got.
  private mutating func note(height: Int, hasReference: Bool) throws(RecordFault) {
    let last = frames.count - 1
    frames[last].height = max(frames[last].height, height)
    guard hasReference else { return }
    // What is to come of a map with a key, but without its value, is odd.
    if case .entries = frames[last].kind, !frames[last].remaining.isMultiple(of: 2) {
      throw damaged("a reference in a key")
    }
    frames[last].hasReference = true
  }

  private mutating func closeLast() throws {
    let frame = frames[frames.count - 1]
    var value = try contents(of: frame)
    var height = frame.height
    var hasReference = frame.hasReference
    switch frame.kind {
    case .body, .node:
      try cursors[cursors.count - 1].finish()
      cursors.removeLast()
    case .object(isRequired: true) where hasReference:
      value = .required(value)
    default:
      break
    }
    if case .node(var node, let key, let isRequired) = frame.kind {
      nodeLevel -= 1
      level = frame.outerLevel
      height += 1
      node.fields = value
      value = .node(node)
      nodes[key] = (value, height)
      if isRequired { value = .required(value) }
      hasReference = true
    }
    frames.removeLast()
    if frame.kind.isLevel { level -= 1 }
    values.removeSubrange(frame.start...)
    values.append(value)
    if !frames.isEmpty { try note(height: height, hasReference: hasReference) }
  }

  func damaged(_ what: StaticString) -> RecordFault {
    .misplaced(what, offset: cursors.last?.position ?? 0)
  }
}
