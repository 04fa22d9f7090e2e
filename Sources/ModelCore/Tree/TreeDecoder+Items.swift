extension TreeDecoder {
  /// Decodes the next item of a body.
  mutating func item(
    _ cursor: inout RecordCursor, _ place: RecordPlace, depth: Int, level: Int,
    _ resolve: Resolver
  ) throws -> Decoded {
    guard level <= RecordBody.maximumNestingDepth else { throw RecordCursor.tooDeep }
    let head = try cursor.head()
    switch head.major {
    case 4:
      return try array(&cursor, cursor.count(head), depth: depth, level: level, resolve)
    case 5:
      let count = try cursor.count(head)
      var decoded = try map(&cursor, count, .field, depth: depth, level: level, resolve)
      if decoded.hasReference, place == .field { decoded.value = .required(decoded.value) }
      return decoded
    case 6:
      return try tagged(&cursor, head.argument, place, depth: depth, level: level, resolve)
    default:
      return Decoded(value: try scalar(&cursor, head))
    }
  }

  private func scalar(
    _ cursor: inout RecordCursor, _ head: RecordCursor.Head
  ) throws(ModelError) -> TreeValue {
    switch head.major {
    case 0:
      return Int64(exactly: head.argument).map(TreeValue.integer) ?? .unsigned(head.argument)
    case 1:
      if let value = Int64(exactly: head.argument) { return .integer(~value) }
      // Beyond `Int64.min`: the form a longer integer has.
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: head.argument >> (56 - 8 * $0)) }
      return .tagged(3, .bytes(bytes))
    case 2:
      var bytes: [UInt8] = []
      bytes.appendPart(of: cursor.bytes, try cursor.content(head))
      return .bytes(bytes)
    case 3:
      return .string(try cursor.text(at: cursor.content(head)))
    default:
      switch head.information {
      case 20: return .bool(false)
      case 21: return .bool(true)
      case 22: return .null
      case 25: return .double(Double(exactBitsOf: Float16(bitPattern: UInt16(head.argument))))
      case 26: return .double(Double(exactBitsOf: Float(bitPattern: UInt32(head.argument))))
      case 27: return .double(Double(bitPattern: head.argument))
      default: throw cursor.damaged("a simple value that is none of false, true and null")
      }
    }
  }

  private mutating func array(
    _ cursor: inout RecordCursor, _ count: Int, depth: Int, level: Int, _ resolve: Resolver
  ) throws -> Decoded {
    var values: [TreeValue] = []
    values.reserveCapacity(min(count, 1024))
    var result = Decoded(value: .null)
    for _ in 0..<count {
      let decoded = try item(&cursor, .element, depth: depth, level: level + 1, resolve)
      values.append(decoded.value)
      result.add(decoded)
    }
    result.value = .array(values)
    return result
  }

  private mutating func tagged(
    _ cursor: inout RecordCursor, _ tag: UInt64, _ place: RecordPlace, depth: Int, level: Int,
    _ resolve: Resolver
  ) throws -> Decoded {
    switch tag {
    case RecordTag.requiredReference, RecordTag.optionalReference:
      var decoded = try child(cursor.reference(), depth: depth, level: level + 1, resolve)
      if tag == RecordTag.requiredReference, place == .field {
        decoded.value = .required(decoded.value)
      }
      return Decoded(value: decoded.value, height: decoded.height + 1, hasReference: true)
    case RecordTag.optionalSlot:
      let count = try cursor.mapCount()
      return try map(&cursor, count, .field, depth: depth, level: level, resolve)
    case RecordTag.entries:
      let count = try cursor.mapCount()
      return try map(&cursor, count, .entry, depth: depth, level: level, resolve)
    default:
      var decoded = try item(&cursor, .element, depth: depth, level: level + 1, resolve)
      guard !decoded.hasReference else { throw cursor.damaged("a reference inside of a tag") }
      decoded.value = .tagged(tag, decoded.value)
      decoded.height += 1
      return decoded
    }
  }

  /// Decodes a map; it is an object when all keys are texts and no entries tag says otherwise.
  private mutating func map(
    _ cursor: inout RecordCursor, _ count: Int, _ place: RecordPlace, depth: Int, level: Int,
    _ resolve: Resolver
  ) throws -> Decoded {
    var fields: [String: TreeValue] = [:]
    var entries: [TreeValue: TreeValue] = [:]
    var areEntries = place == .entry
    var result = Decoded(value: .null)
    for _ in 0..<count {
      let key = try item(&cursor, .element, depth: 0, level: level + 1) { _ in
        throw ModelError(.invalidRecord, reason: "the key of a map is a reference")
      }
      let decoded = try item(&cursor, place, depth: depth, level: level + 1, resolve)
      result.add(decoded)
      // Two spellings of one name are one key to a dictionary of texts.
      if !areEntries, case .string(let name) = key.value, fields[name] == nil {
        fields[name] = decoded.value
        continue
      }
      if !areEntries {
        areEntries = true
        for (name, value) in fields { entries[.string(name)] = value }
      }
      guard entries.updateValue(decoded.value, forKey: key.value) == nil else {
        throw cursor.damaged("a map that has one key twice")
      }
    }
    guard !areEntries || place == .entry || !result.hasReference else {
      throw cursor.damaged("an object whose names are no texts")
    }
    result.value = areEntries ? .entries(entries) : .object(fields)
    return result
  }
}

extension TreeDecoder.Decoded {
  /// Takes in what a value inside of this one adds.
  fileprivate mutating func add(_ inner: TreeDecoder.Decoded) {
    height = max(height, inner.height + 1)
    hasReference = hasReference || inner.hasReference
  }
}
