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
  let map: FieldReader

  init(_ map: FieldReader) { self.map = map }

  /// Finds a field by its present or a former name; `nil` if the record has neither.
  @inline(__always)
  func field(_ name: StaticString) -> CBORReader? {
    let key = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    if let found = unsafe map.index.pointee.find(key) { return found }
    return map.hasHistory ? former(name) : nil
  }

  @inline(never)
  private static func located(_ error: any Error, _ name: StaticString) -> any Error {
    ModelError.located(error, inside: name.description)
  }

  @inline(never)
  private func absent<Known: Decodable>(_ name: StaticString) throws -> Known {
    try map.absent(Known.self, name.description)
  }

  @inline(never)
  private func defaultValue<Known: Decodable>(_ name: StaticString) throws -> Known? {
    try map.defaultValue(Known.self, name.description)
  }

  @inline(never)
  private func former(_ name: StaticString) -> CBORReader? {
    var name = name.description
    return (try? map.field(&name)) ?? nil
  }

  /// Reads a field of a scalar type.
  @inline(__always)
  func scalar<Known: RecordScalarDecodable & Decodable>(_ name: StaticString) throws -> Known {
    guard var reader = field(name) else { return try absent(name) }
    do {
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw Self.located(error, name)
    }
  }

  /// Reads a field of a scalar type, if it is present and not null.
  @inline(__always)
  func scalarIfPresent<Known: RecordScalarDecodable & Decodable>(
    _ name: StaticString
  ) throws -> Known? {
    guard var reader = field(name) else {
      return try defaultValue(name)
    }
    do {
      if try reader.takeNull() { return nil }
      return try Known.decodeScalar(from: &reader)
    } catch {
      throw Self.located(error, name)
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
    guard let reader = field(name) else { return try map.absent(type, name.description) }
    do {
      return try map.session().decode(type, at: reader, level: map.level)
    } catch {
      throw Self.located(error, name)
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
    guard var reader = field(name) else {
      return try map.defaultValue(Value.self, name.description)
    }
    do {
      if try reader.takeNull() { return nil }
      return try map.session().decode(Value.self, at: reader, level: map.level)
    } catch {
      throw Self.located(error, name)
    }
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
