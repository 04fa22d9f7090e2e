import PandoSystem

/// A codable type that reads and writes its own fields: several times faster than `Codable` alone.
///
/// ```swift
/// extension Person: FieldCodable {
///   init(fields: inout FieldSource) throws {
///     id = try fields.read("id")
///     name = try fields.read("name")
///     employer = try fields.read("employer")
///   }
///   func write(to fields: inout FieldSink) throws {
///     fields.write("id", id)
///     fields.write("name", name)
///     try fields.write("employer", employer)
///   }
/// }
/// ```
/// It is used wherever a record is coded, as the root, a child or an element. Records have the same
/// bytes, so a type may adopt it, or drop it, at any time. The names are those of the coding keys.
/// Debug builds compare both codings at the first write of a type, and stop the process if they
/// differ.
///
/// Reading and writing allocate nothing beyond the values themselves.
public protocol FieldCodable: Codable {
  /// Makes a value from the fields of a record.
  ///
  /// - Parameter fields: The fields of the record, readable in any order; fastest in the order of
  ///   ``write(to:)``.
  /// - Throws: The error of reading a field.
  init(fields: inout FieldSource) throws

  /// Writes every field once.
  ///
  /// - Parameter fields: The sink for the fields, in any order. Optionals that are nil are written,
  ///   too.
  /// - Throws: The error of writing a field.
  func write(to fields: inout FieldSink) throws
}

/// The fields of one value that a ``FieldCodable`` type writes into a record.
///
/// ```swift
/// func write(to fields: inout FieldSink) throws {
///   fields.write("name", name)
///   try fields.write("employer", employer)
/// }
/// ```
///
/// It lives as long as the method that receives it, on the thread of that call.
@safe public struct FieldSink: ~Copyable {
  /// Open as long as this value lives.
  unowned(unsafe) private let frame: EncodingFrame
  /// The content of the frame.
  private let content: UnsafeMutablePointer<EncodedContent>

  /// Makes a sink for the fields of the value that a frame encodes.
  ///
  /// - Throws: `ModelError` if the value has requested another container.
  init(_ frame: EncodingFrame) throws {
    try frame.use(.map)
    unsafe self.frame = frame
    unsafe content = unsafe frame.content
  }

  /// Writes a field of a scalar type.
  @inline(__always)
  func scalar<Known: RecordScalar>(_ name: StaticString, _ value: Known) {
    unsafe content.pointee.beginField(name)
    unsafe value.append(to: &content.pointee.writer)
    unsafe content.pointee.endEntry()
  }

  /// Writes a field of an optional scalar type.
  func optional<Known: RecordScalar>(_ name: StaticString, _ value: Known?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a field that is null.
  func null(_ name: StaticString) {
    unsafe content.pointee.beginField(name)
    unsafe content.pointee.writer.appendNull()
    unsafe content.pointee.endEntry()
  }

  /// Writes a field of any type.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  /// - Throws: `ModelError` that names the field; the error of the value's own coding.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value) throws {
    unsafe content.pointee.beginField(name)
    try unsafe frame.encodeField(value, slot: .required, name: name.description)
  }

  /// Writes a field of any type that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  /// - Throws: `ModelError` that names the field; the error of the value's own coding.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value?) throws {
    guard let value else { return null(name) }
    unsafe content.pointee.beginField(name)
    try unsafe frame.encodeField(value, slot: .optional, name: name.description)
  }

  /// Writes a field of any type, as ``write(_:_:)`` does; generated code uses it for types that are
  /// not known to be scalars.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  /// - Throws: `ModelError` that names the field; the error of the value's own coding.
  public mutating func writeCoded<Value: Encodable>(
    _ name: StaticString, _ value: Value
  ) throws { try write(name, value) }

  /// Writes a field of any type that may be nil, as ``write(_:_:)`` does.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  /// - Throws: `ModelError` that names the field; the error of the value's own coding.
  public mutating func writeCoded<Value: Encodable>(
    _ name: StaticString, _ value: Value?
  ) throws { try write(name, value) }
}

#if DEBUG
  /// Compares the two codings of a ``FieldCodable`` type, once per type.
  enum FieldCheck {
    private static let checked = Locked<Set<ObjectIdentifier>>([])

    /// Stops the process if a value has different bytes by its fields and by its `Codable`.
    static func check<Value: FieldCodable>(_ value: Value) {
      guard checked.withLock({ $0.insert(ObjectIdentifier(Value.self)).inserted }) else { return }
      // Encoding errors are thrown to the caller elsewhere.
      guard let plain = try? RecordEncoder.encodeValue(value, usingFields: false).body,
        let fast = try? RecordEncoder.encodeValue(value).body
      else { return }
      precondition(
        plain == fast, "\(Value.self): write(to:) writes other fields than encode(to:)")
      guard let copy = try? RecordDecoder.decodeValue(Value.self, from: fast) else { return }
      precondition(
        (try? RecordEncoder.encodeValue(copy, usingFields: false).body) == plain,
        "\(Value.self): init(fields:) reads something else than write(to:) has written")
    }
  }
#endif

/// The types that need no generic code; nil is written as null.
extension FieldSink {
  /// Writes a Boolean.
  public mutating func write(_ name: StaticString, _ value: Bool) { scalar(name, value) }

  /// Writes a Boolean that may be nil.
  public mutating func write(_ name: StaticString, _ value: Bool?) { optional(name, value) }

  /// Writes a text.
  public mutating func write(_ name: StaticString, _ value: String) { scalar(name, value) }

  /// Writes a text that may be nil.
  public mutating func write(_ name: StaticString, _ value: String?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Double) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Double?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Float) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Float?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Int) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Int?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Int8) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Int8?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Int16) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Int16?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Int32) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Int32?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: Int64) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: Int64?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: UInt) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: UInt?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: UInt8) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: UInt8?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: UInt16) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: UInt16?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: UInt32) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: UInt32?) { optional(name, value) }

  /// Writes a number.
  public mutating func write(_ name: StaticString, _ value: UInt64) { scalar(name, value) }

  /// Writes a number that may be nil.
  public mutating func write(_ name: StaticString, _ value: UInt64?) { optional(name, value) }
}
