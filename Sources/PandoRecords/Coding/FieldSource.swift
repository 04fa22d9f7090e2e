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
  /// Open as long as this value lives, so that calls need not retain it.
  private let session: Unmanaged<DecodingSession>
  /// Before the key of a field; before its value while that is read.
  private var cursor: FieldCursor
  private let type: Any.Type
  private let level: Int

  /// Begins to read the fields of a value.
  ///
  /// - Throws: ``CBORError``; `ModelError` if the value is not a map.
  init(_ value: CBORReader, of type: Any.Type, in session: __shared DecodingSession, level: Int)
    throws
  {
    unsafe self.session = Unmanaged.passUnretained(session)
    self.type = type
    self.level = level
    cursor = try FieldCursor(value)
  }

  /// Moves a reader behind the value.
  mutating func finish(_ reader: inout CBORReader) throws {
    try cursor.finish()
    reader = cursor.reader
  }

  /// Moves to the value of a field; `false` if the record has it neither by its present nor by a
  /// former name.
  @inline(__always)
  private mutating func find(_ name: StaticString) throws -> Bool {
    try cursor.take(name) || search(name)
  }

  /// The same for a field that is not the next one.
  @inline(never)
  private mutating func search(_ name: StaticString) throws -> Bool {
    let key = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    var found = try unsafe cursor.search(key)
    if found == nil, let history { found = try cursor.searchFormer(name.description, history) }
    guard let found else { return false }
    cursor.reader = found
    return true
  }

  /// The type, if it declares former names or defaults.
  private var history: (any FieldHistory.Type)? {
    unsafe TypeTable.traits(of: type).pointee.history
  }

  /// An error of a field, in whose value the cursor may be.
  @inline(never)
  private mutating func located(_ error: any Error, _ name: StaticString) -> any Error {
    cursor.reset()
    return ModelError.located(error, inside: name.description)
  }

  /// The default of a required field that is missing.
  @inline(never)
  private func absent<Value: Decodable>(_ name: StaticString) throws -> Value {
    try MissingField.value(name.description, history)
  }

  /// The default of an optional field that is missing.
  @inline(never)
  private func defaultValue<Value: Decodable>(_ name: StaticString) throws -> Value? {
    try MissingField.defaultValue(name.description, history)
  }

  /// Reads a field of a scalar type.
  @inline(__always)
  private mutating func scalar<Known: RecordScalarDecodable & Decodable>(
    _ name: StaticString
  ) throws -> Known {
    guard try find(name) else { return try absent(name) }
    do {
      return try Known.decodeScalar(from: &cursor.reader)
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
      if cursor.reader.takeNull() { return nil }
      return try Known.decodeScalar(from: &cursor.reader)
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
      return try unsafe session._withUnsafeGuaranteedRef {
        try $0.decode(type, from: &cursor.reader, level: level)
      }
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
      if cursor.reader.takeNull() { return nil }
      return try unsafe session._withUnsafeGuaranteedRef {
        try $0.decode(Value.self, from: &cursor.reader, level: level)
      }
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
      return try unsafe session._withUnsafeGuaranteedRef {
        try $0.decodeFields(Value.self, from: &cursor.reader, level: level)
      }
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
      if cursor.reader.takeNull() { return nil }
      return try unsafe session._withUnsafeGuaranteedRef {
        try $0.decodeFields(Value.self, from: &cursor.reader, level: level)
      }
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
      return try unsafe session._withUnsafeGuaranteedRef {
        try $0.decodeElementsByFields(from: &cursor.reader, level: level)
      }
    } catch {
      throw located(error, name)
    }
  }
}

/// Reads of generated code, as ``read(_:as:)``, for types that may be no scalars.
///
/// An error of the compiler about such a type names the missing protocol, and not all scalars.
extension FieldSource {
  /// Reads a field of any type.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: Its type.
  /// - Returns: Its value.
  /// - Throws: `ModelError` that names the field.
  public mutating func readCoded<Value: Decodable>(
    _ name: StaticString, as type: Value.Type = Value.self
  ) throws -> Value { try read(name, as: type) }

  /// Reads a field of any type that may be absent or null.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - type: Its type.
  /// - Returns: Its value; `nil` if it is null or missing.
  /// - Throws: `ModelError` that names the field.
  public mutating func readCoded<Value: Decodable>(
    _ name: StaticString, as type: Value?.Type = Optional<Value>.self
  ) throws -> Value? { try read(name, as: type) }

  /// Reads a child, or a value, that reads its own fields.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value.
  /// - Throws: `ModelError` that names the field.
  public mutating func readCoded<Value: FieldCodable>(_ name: StaticString) throws -> Value {
    try read(name)
  }

  /// Reads a child, or a value, that reads its own fields and may be absent or null.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its value; `nil` if it is null or missing.
  /// - Throws: `ModelError` that names the field.
  public mutating func readCoded<Value: FieldCodable>(_ name: StaticString) throws -> Value? {
    try read(name)
  }

  /// Reads a list of children, or values, that read their own fields.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Its elements.
  /// - Throws: `ModelError` that names the field.
  public mutating func readCoded<Element: FieldCodable>(_ name: StaticString) throws -> [Element] {
    try read(name)
  }

  /// Does not compile.
  ///
  /// - Parameter name: The name of the field.
  /// - Returns: Nothing.
  /// - Throws: Nothing.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "a stored property has a type that is Codable and Equatable; @Transient stores none"
  )
  public mutating func readCoded<Value>(_ name: StaticString) throws -> Value {
    preconditionFailure("the compiler refuses calls")
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
