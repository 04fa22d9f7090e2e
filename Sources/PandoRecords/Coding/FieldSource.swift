import PandoModels

/// The fields of one value in a record that a ``FieldCodable`` type reads.
///
/// ```swift
/// init(fields: inout FieldSource) throws {
///   name = try fields.read("name")
///   employer = try fields.read("employer")
/// }
/// ```
///
/// It lives as long as the initializer that receives it, on the thread of that call.
@safe public struct FieldSource: ~Copyable {
  /// Open as long as this value lives.
  unowned(unsafe) private let session: DecodingSession
  /// Before the key of the next field; after the key of the present field while that is read.
  private var reader: CBORReader
  /// The number of fields that follow; -1 as soon as fields are found by the index.
  private var rest: Int
  /// The whole value, for the index.
  private let value: CBORReader
  private let type: Any.Type
  private let level: Int
  /// The index of the fields, made for the first field that does not follow.
  private var map: FieldReader?

  /// Begins to read the fields of a value.
  ///
  /// - Throws: ``CBORError``; `ModelError` if the value is not a map.
  init(_ value: CBORReader, of type: Any.Type, in session: __shared DecodingSession, level: Int)
    throws
  {
    unsafe self.session = session
    self.value = value
    self.type = type
    self.level = level
    reader = value
    rest = try reader.fieldCount()
  }

  /// Moves a reader behind the value.
  mutating func finish(_ reader: inout CBORReader) throws {
    if rest > 0 { try skipRest() }
    if let map { unsafe self.reader.advance(by: map.index.pointee.mapEnd - self.reader.position) }
    reader = self.reader
  }

  @inline(never)
  private mutating func skipRest() throws {
    for _ in 0..<rest {
      try reader.skip()
      try reader.skip()
    }
  }

  /// Moves to the value of a field; `false` if the record has it neither by its present nor by a
  /// former name.
  @inline(__always)
  private mutating func find(_ name: StaticString) throws -> Bool {
    if rest > 0, reader.take(key: name) {
      rest &-= 1
      return true
    }
    return try search(name)
  }

  /// The same for a field that does not follow at once.
  @inline(never)
  private mutating func search(_ name: StaticString) throws -> Bool {
    let key = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    while rest > 0 {
      rest -= 1
      if try unsafe reader.takeKey(key) { return true }
      try reader.skip()
    }
    rest = -1
    let map =
      try unsafe map
      ?? .open(value, in: session, level: level, owner: TypeTable.traits(of: type))
    self.map = map
    var found = unsafe map.index.pointee.find(key)
    if found == nil, map.hasHistory {
      var name = name.description
      found = try map.field(&name)
    }
    guard let found else { return false }
    reader = found
    return true
  }

  /// An error of a field; further fields are found by the index.
  @inline(never)
  private mutating func located(_ error: any Error, _ name: StaticString) -> any Error {
    rest = -1
    return ModelError.located(error, inside: name.description)
  }

  /// The default of a required field that is missing.
  @inline(never)
  private func absent<Value: Decodable>(_ name: StaticString) throws -> Value {
    guard let map else { preconditionFailure("a field is missing only in the index") }
    return try map.absent(Value.self, name.description)
  }

  /// The default of an optional field that is missing.
  @inline(never)
  private func defaultValue<Value: Decodable>(_ name: StaticString) throws -> Value? {
    try map?.defaultValue(Value.self, name.description)
  }

  /// Reads a field of a scalar type.
  @inline(__always)
  private mutating func scalar<Known: RecordScalarDecodable & Decodable>(
    _ name: StaticString
  ) throws -> Known {
    guard try find(name) else { return try absent(name) }
    do {
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw located(error, name)
    }
  }

  /// Reads a field of a scalar type, if it is present and not null.
  @inline(__always)
  private mutating func scalarIfPresent<Known: RecordScalarDecodable & Decodable>(
    _ name: StaticString
  ) throws -> Known? {
    guard try find(name) else { return try defaultValue(name) }
    do {
      if reader.takeNull() { return nil }
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw located(error, name)
    }
  }
}

extension FieldSource {
  /// Reads a field of any type.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: Its type.
  /// - Returns: Its value.
  /// - Throws: `ModelError` that names the field.
  public mutating func read<Value: Decodable>(
    _ name: StaticString, as type: Value.Type = Value.self
  ) throws -> Value {
    guard try find(name) else { return try absent(name) }
    do {
      return try unsafe session.decode(type, from: &reader, level: level)
    } catch {
      throw located(error, name)
    }
  }

  /// Reads a field of any type that may be absent or null.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: Its type.
  /// - Returns: Its value; `nil` if it is null or missing.
  /// - Throws: `ModelError` that names the field.
  public mutating func read<Value: Decodable>(
    _ name: StaticString, as type: Value?.Type = Optional<Value>.self
  ) throws -> Value? {
    guard try find(name) else { return try defaultValue(name) }
    do {
      if reader.takeNull() { return nil }
      return try unsafe session.decode(Value.self, from: &reader, level: level)
    } catch {
      throw located(error, name)
    }
  }

  /// Reads a child, or a value, that reads its own fields.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: `ModelError` that names the field.
  public mutating func read<Value: FieldCodable>(_ name: StaticString) throws -> Value {
    guard try find(name) else { return try absent(name) }
    do {
      return try unsafe session.decodeFields(Value.self, from: &reader, level: level)
    } catch {
      throw located(error, name)
    }
  }

  /// Reads a child, or a value, that reads its own fields and may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or missing.
  /// - Throws: `ModelError` that names the field.
  public mutating func read<Value: FieldCodable>(_ name: StaticString) throws -> Value? {
    guard try find(name) else { return try defaultValue(name) }
    do {
      if reader.takeNull() { return nil }
      return try unsafe session.decodeFields(Value.self, from: &reader, level: level)
    } catch {
      throw located(error, name)
    }
  }

  /// Reads a list of children, or values, that read their own fields.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its elements.
  /// - Throws: `ModelError` that names the field.
  public mutating func read<Element: FieldCodable>(_ name: StaticString) throws -> [Element] {
    guard try find(name) else { return try absent(name) }
    do {
      return try unsafe session.decodeElementsByFields(from: &reader, level: level)
    } catch {
      throw located(error, name)
    }
  }
}

extension CBORReader {
  /// Reads the head of a map of fields, maybe inside the tags that describe its loss.
  ///
  /// - Returns: The number of fields.
  /// - Throws: ``CBORError``; `ModelError` for another item.
  @inline(__always)
  mutating func fieldCount() throws -> Int {
    var head = try head()
    while head.major == .tag,
      head.argument == RecordTag.optionalSlot || head.argument == RecordTag.entries
    {
      head = try self.head()
    }
    guard head.major == .map else { throw ModelError.mismatch("a map of fields", head) }
    return Int(head.argument)
  }

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
  fileprivate mutating func takeKey(_ key: UnsafeBufferPointer<UInt8>) throws(CBORError) -> Bool {
    guard let count = try textCount() else {
      try skip()
      return false
    }
    let found = unsafe FieldLocation(key: position, keyCount: count)
    advance(by: count)
    guard let bytes = key.baseAddress else { return count == 0 }
    return unsafe found.hasKey(bytes, count: key.count)
  }
}

/// The types that need no generic code; optional fields may be absent.
extension FieldSource {
  /// Reads a Boolean.
  public mutating func read(_ name: StaticString) throws -> Bool { try scalar(name) }

  /// Reads a Boolean that may be null.
  public mutating func read(_ name: StaticString) throws -> Bool? { try scalarIfPresent(name) }

  /// Reads a text.
  public mutating func read(_ name: StaticString) throws -> String { try scalar(name) }

  /// Reads a text that may be null.
  public mutating func read(_ name: StaticString) throws -> String? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Double { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Double? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Float { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Float? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Int { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Int? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Int8 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Int8? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Int16 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Int16? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Int32 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Int32? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> Int64 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> Int64? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> UInt { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> UInt? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> UInt8 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> UInt8? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> UInt16 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> UInt16? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> UInt32 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> UInt32? { try scalarIfPresent(name) }

  /// Reads a number.
  public mutating func read(_ name: StaticString) throws -> UInt64 { try scalar(name) }

  /// Reads a number that may be null.
  public mutating func read(_ name: StaticString) throws -> UInt64? { try scalarIfPresent(name) }
}
