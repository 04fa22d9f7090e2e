import PandoModels

/// The work of a ``TreeDecoder``, on a separate stack: a deep tree cannot exhaust the thread's.
struct TreeBuilder {
  /// An open item, whose values are being read.
  ///
  /// `kind`, `start`, `depth` and `outerLevel` are set at its opening. `remaining` falls to zero
  /// before its end; `height` and `hasReference` collect the facts about its values.
  struct Frame {
    enum Kind {
      case body
      case node(TreeNode, Key, isRequired: Bool)
      case array
      case object(isRequired: Bool)
      case entries
      case tag(UInt64)

      /// Whether it is a level of nesting; bodies are none.
      var isLevel: Bool {
        switch self {
        case .body, .node: false
        case .array, .object, .entries, .tag: true
        }
      }
    }

    let kind: Kind
    /// The number of items to read; a map has two for each entry.
    var remaining: Int
    /// The index of its first value.
    let start: Int
    /// The number of levels of nodes to decode below.
    let depth: Int
    /// The level around a node.
    var outerLevel = 0
    /// The number of levels of nodes in its values.
    var height = 0
    var hasReference = false
  }

  /// A node decoded with a number of levels below it.
  struct Key: Hashable {
    let reference: RecordReference
    let depth: Int
  }

  private var frames: [Frame] = []
  /// The number of arrays, maps and tags among the open frames of the innermost node.
  private var level = 0
  /// The number of open nodes.
  private var nodeLevel = 0
  /// The complete values of all open frames.
  var values: [TreeValue] = []
  /// The open bodies.
  private var cursors: [RecordCursor] = []
  private var nodes: [Key: (value: TreeValue, height: Int)] = [:]

  /// Removes the state of a failed run.
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
  /// - Returns: The node if it was decoded already; a reference if it has no body.
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
    // The resolver keeps the bytes until the end of the run.
    cursors.append(unsafe RecordCursor(body))
    return nil
  }

  /// Decodes until all frames are closed.
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

  /// Adds the innermost open node to an error.
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
      // Without a limit, all levels are equal.
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
      // Below `Int64.min`: the form of longer integers.
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: head.argument >> (56 - 8 * $0)) }
      return .tagged(RecordTag.negativeBignum, .bytes(bytes))
    case .bytes:
      // Copied here.
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

  /// The slot of the next item; `nil` for the key of a map.
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

  /// Notes facts about a value in the innermost frame.
  private mutating func note(height: Int, hasReference: Bool) throws(RecordFault) {
    let last = frames.count - 1
    frames[last].height = max(frames[last].height, height)
    guard hasReference else { return }
    // Between a key and its value, a map has an odd number of items left.
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
