import PandoModels

/// A position in the fields of one map.
///
/// The next field is compared first. Other fields are searched from there to the end of the map,
/// then from its beginning: a value that reads its fields in the order of the map never searches.
@safe struct FieldCursor {
  /// Before the first key.
  private let first: CBORReader
  private let count: Int
  /// Before the next key, or before the value of the field that was found.
  var reader: CBORReader
  /// The number of fields after the one that was found.
  private var rest: Int

  /// Opens a map of fields, maybe inside the tags that describe its loss.
  ///
  /// - Throws: ``CBORError``; `ModelError` for another item.
  @inline(__always)
  init(_ value: CBORReader) throws {
    reader = value
    var head = try reader.head()
    while head.major == .tag,
      head.argument == RecordTag.optionalSlot || head.argument == RecordTag.entries
    {
      head = try reader.head()
    }
    guard head.major == .map else { throw ModelError.mismatch("a map of fields", head) }
    first = reader
    count = Int(head.argument)
    rest = count
  }

  /// Moves to the value of a field if it is the next one.
  @inline(__always)
  mutating func take(_ name: StaticString) -> Bool {
    guard rest > 0, reader.take(key: name) else { return false }
    rest &-= 1
    return true
  }

  /// Finds the value of a field, and moves behind it; does not move without the field.
  ///
  /// The position is before a key.
  mutating func search(_ key: UnsafeBufferPointer<UInt8>) throws(CBORError) -> CBORReader? {
    guard let bytes = unsafe UnsafeRawPointer(key.baseAddress) else { return nil }
    var (next, others) = (reader, rest)
    for _ in 0..<count {
      if others == 0 { (next, others) = (first, count) }
      others &-= 1
      var value = next
      if let keyCount = next.takeShortField() {
        // A key of less than 24 bytes has a head of one byte.
        value.advance(by: 1 &+ keyCount)
        guard keyCount == key.count,
          unsafe FieldLocation(key: value.position - keyCount, keyCount: keyCount)
            .hasKey(bytes, count: keyCount)
        else { continue }
      } else {
        let isFound = try unsafe value.takeKey(bytes, count: key.count)
        next = value
        try next.skip()
        guard isFound else { continue }
      }
      (reader, rest) = (next, others)
      return value
    }
    return nil
  }

  /// The same with the former names of a field, the newest first.
  @inline(__always)
  mutating func search(
    _ name: inout String, _ history: (any FieldHistory.Type)?
  ) throws -> CBORReader? {
    if let value = try name.withUTF8({ try unsafe search($0) }) { return value }
    guard let history else { return nil }
    return try searchFormer(name, history)
  }

  @inline(never)
  mutating func searchFormer(
    _ name: String, _ history: any FieldHistory.Type
  ) throws -> CBORReader? {
    for former in history.formerFieldNames[name] ?? [] {
      var former = former
      if let value = try search(&former, nil) { return value }
    }
    return nil
  }

  /// Moves to the first field.
  mutating func reset() { (reader, rest) = (first, count) }

  /// Moves behind the map, from a position before a key.
  mutating func finish() throws(CBORError) {
    while rest > 0 {
      rest &-= 1
      try reader.skip()
      try reader.skip()
    }
  }

  /// The names of all fields, in map order.
  var names: [String] {
    var reader = first
    return (0..<count).compactMap { _ in
      let name = try? reader.text()
      return (try? reader.skip()) == nil ? nil : name
    }
  }
}

extension CBORReader {
  /// Reads a key of less than 24 bytes if it is next.
  @inline(__always)
  fileprivate mutating func take(key: StaticString) -> Bool {
    let count = key.utf8CodeUnitCount
    // In bounds: the head and the key are before the end.
    guard count < 24, count < remaining,
      unsafe position.load(as: UInt8.self) == 0x60 | UInt8(truncatingIfNeeded: count),
      unsafe FieldLocation(key: position + 1, keyCount: count).hasKey(key.utf8Start, count: count)
    else { return false }
    advance(by: 1 &+ count)
    return true
  }

  /// Reads a key of any kind.
  ///
  /// - Returns: Whether it is a certain text.
  fileprivate mutating func takeKey(
    _ key: UnsafeRawPointer, count keyCount: Int
  ) throws(CBORError) -> Bool {
    guard let count = try textCount() else {
      try skip()
      return false
    }
    let found = unsafe FieldLocation(key: position, keyCount: count)
    advance(by: count)
    return unsafe found.hasKey(key, count: keyCount)
  }
}

/// The values of fields that a record lacks: the defaults that their type declares.
enum MissingField {
  /// The value of a required field.
  ///
  /// - Throws: `ModelError` `missingField` if there is no default.
  @inline(never)
  static func value<Value: Decodable>(
    _ name: String, _ history: (any FieldHistory.Type)?
  ) throws -> Value {
    if let value: Value = try defaultValue(name, history) { return value }
    throw error(name)
  }

  /// The default that a type declares for a field.
  @inline(never)
  static func defaultValue<Value: Decodable>(
    _ name: String, _ history: (any FieldHistory.Type)?
  ) throws -> Value? {
    guard let value = history?.fieldDefaults[name] else { return nil }
    if let value = value as? Value { return value }
    do {
      return try RecordDecoder.decodeValue(Value.self, from: RecordEncoder.encodeValue(value).body)
    } catch {
      throw ModelError.located(error, inside: name)
    }
  }

  @inline(never)
  static func error(_ name: String) -> ModelError {
    ModelError(
      .missingField, reason: "the record has no field \"\(name)\" and its type no default for it"
    ).inside(name)
  }
}
