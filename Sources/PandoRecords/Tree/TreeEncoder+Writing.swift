import PandoModels
import PandoSystem

extension TreeEncoder {
  /// Writes or opens the next value of the innermost frame, which has the given index.
  mutating func writeNext(of last: Int) throws {
    let next = frames[last].next
    switch frames[last].kind {
    case .object:
      record.output.append(frames[last].names[next])
    case .entries:
      // Copied here.
      unsafe frames[last].keys[next].withUnsafeBytes { unsafe record.output.append(raw: $0) }
    case .keys:
      if next > 0 { try collectKey() }
      pushRecord()
    case .root, .node, .array, .tag:
      break
    }
    frames[last].next += 1
    try write(frames[last].values[next], frames[last].slot)
  }

  private mutating func write(_ value: TreeValue, _ slot: RecordSlot) throws {
    var value = value
    var isRequired = false
    while case .required(let inner) = value {
      value = inner
      isRequired = true
    }
    switch value {
    case .array(let values):
      try push(.array, values)
      record.output.append(arrayHead: values.count)
    case .object(let fields):
      let sorted = fields.sorted(shorterFirst: true)
      let kind = Frame.Kind.object(isOptional: slot == .field && !isRequired)
      try push(kind, sorted.map(\.value), names: sorted.map(\.key))
      record.output.append(mapHead: sorted.count)
    case .entries(let entries):
      let pairs = Array(entries)
      try push(.keys(pairs.map(\.value)), pairs.map(\.key))
    case .tagged(let tag, let value):
      try writeTagged(tag, value)
    case .node(let node):
      try check(node.identifier, typeName: node.typeName)
      guard openNodes.count < RecordLimits.maximumNodeDepth else {
        throw EncodingSession.nodesTooDeep.about(
          identifier: node.identifier, typeName: node.typeName)
      }
      let reference = try sink.beginNode(identifier: node.identifier, typeName: node.typeName)
      pushRecord()
      try push(.node(node, reference, slot, isRequired: isRequired), [node.fields])
    case .reference(let identifier, let typeName):
      try check(identifier, typeName: typeName)
      let reference = try sink.reference(identifier: identifier, typeName: typeName)
      record.append(reference, slot, isRequired: isRequired)
      frames[frames.count - 1].hasReference = true
    default:
      record.append(scalar: value)
    }
  }

  private mutating func writeTagged(_ tag: UInt64, _ value: TreeValue) throws(ModelError) {
    guard !RecordTag.isPrivate(tag) else {
      throw ModelError(.typeMismatch, reason: "the tag \(tag) is one that records use themselves")
    }
    if tag == RecordTag.positiveBignum || tag == RecordTag.negativeBignum {
      guard case .bytes(let bytes) = value else {
        throw ModelError(.typeMismatch, reason: "a big integer that is not given as bytes")
      }
      return record.append(bigInteger: bytes, tag: tag)
    }
    try push(.tag(tag), [value])
    record.output.append(tag: tag)
  }

  private func check(_ identifier: String, typeName: String) throws(ModelError) {
    guard !identifier.isEmpty else {
      throw ModelError(
        .emptyIdentifier, typeName: typeName, reason: "a node has an empty identifier")
    }
    for other in openNodes where other.hasSameBytes(as: identifier) {
      throw ModelError(
        .cyclicModel, identifier: identifier, typeName: typeName,
        reason: "the node contains itself")
    }
  }

  /// Closes the innermost frame, whose values are complete.
  mutating func close(_ frame: Frame) throws {
    switch frame.kind {
    case .object(isOptional: true) where frame.hasReference:
      record.output.insertHead(.tag, RecordTag.optionalSlot, at: frame.start)
    case .entries where frame.hasReference:
      record.output.insertHead(.tag, RecordTag.entries, at: frame.start)
    case .tag(let tag) where frame.hasReference:
      throw ModelError(.typeMismatch, reason: "a value with the tag \(tag) contains a node")
    case .keys(let values):
      return try closeKeys(values)
    case .node(_, let reference, let slot, let isRequired):
      let own = popRecord()
      // The sink reads the body during the call only.
      unsafe try own.output.withUnsafeBytes { body in
        unsafe try sink.endNode(reference, body: body, edges: own.edges)
      }
      recycle(own)
      record.append(reference, slot, isRequired: isRequired)
    case .root, .array, .object, .entries, .tag:
      break
    }
    frames.removeLast()
    if frame.kind.isLevel { level -= 1 }
    var hasReference = frame.hasReference
    if case .node = frame.kind {
      hasReference = true
      openNodes.removeLast()
      level = frame.outerLevel
    }
    if hasReference, !frames.isEmpty { frames[frames.count - 1].hasReference = true }
  }

  /// Adds the key written last to its frame.
  private mutating func collectKey() throws(ModelError) {
    guard !frames[frames.count - 1].hasReference else {
      throw ModelError(.typeMismatch, reason: "the key of an entry contains a node")
    }
    let key = popRecord()
    frames[frames.count - 1].keys.append(key.output.bytes)
    recycle(key)
  }

  /// Sorts all entries by their keys and begins their values.
  private mutating func closeKeys(_ values: [TreeValue]) throws(ModelError) {
    if !values.isEmpty { try collectKey() }
    let pairs = zip(frames.removeLast().keys, values).ordered {
      $0.0.lexicographicallyPrecedes($1.0)
    }
    for (first, second) in zip(pairs, pairs.dropFirst()) where first.0 == second.0 {
      throw ModelError(.typeMismatch, reason: "two entries have the same key")
    }
    try push(.entries, pairs.map(\.1), keys: pairs.map(\.0))
    record.output.append(mapHead: pairs.count)
  }
}

/// A record during its writing by a ``TreeEncoder``.
final class TreeRecordWriter {
  var output = CBORWriter()
  var edges: [RecordEdge] = []

  /// Removes the content and keeps the capacity.
  func reset() {
    output.removeAll()
    edges.removeAll(keepingCapacity: true)
  }

  /// Appends a reference with the tag for its kind of loss.
  func append(_ reference: RecordReference, _ slot: RecordSlot, isRequired: Bool) {
    let isOptional = slot == .field && !isRequired
    output.append(reference: reference, isOptional: isOptional)
    edges.append(
      RecordEdge(child: reference, kinds: isOptional ? .optional : slot.kindOfRequired))
  }

  /// Appends a scalar.
  func append(scalar value: TreeValue) {
    switch value {
    case .null: output.appendNull()
    case .bool(let value): output.append(value)
    case .integer(let value): output.append(value)
    case .unsigned(let value): output.append(value)
    case .double(let value): output.append(value)
    case .string(let value): output.append(value)
    case .bytes(let value): output.append(byteString: value)
    default: preconditionFailure("\(value) contains other values")
    }
  }

  /// Appends an integer given as big-endian bytes; up to 64 bits it has no tag.
  func append(bigInteger bytes: [UInt8], tag: UInt64) {
    let significant = bytes.drop { $0 == 0 }
    if significant.count <= 8 {
      let argument = significant.reduce(0) { $0 << 8 | UInt64($1) }
      output.append(head: tag == RecordTag.negativeBignum ? .negative : .unsigned, argument)
    } else {
      output.append(tag: tag)
      output.append(byteString: Array(significant))
    }
  }
}

extension [String: TreeValue] {
  /// The fields in the order of the bytes of their names.
  ///
  /// - Parameter shorterFirst: Whether shorter names come first, as in records.
  /// - Returns: Names and values.
  @inline(never)
  func sorted(shorterFirst: Bool) -> [(key: String, value: TreeValue)] {
    ordered { left, right in
      let (count, other) = (left.key.utf8.count, right.key.utf8.count)
      if shorterFirst, count != other { return count < other }
      return left.key.hasBytes(before: right.key)
    }
  }
}
