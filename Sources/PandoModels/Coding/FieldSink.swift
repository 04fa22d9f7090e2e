import PandoSystem

/// A codable type that reads and writes its fields by itself: several times faster than `Codable` alone.
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
/// It is used wherever a record is coded, as the root, a child or an element, and nothing else changes:
/// records have the same bytes, and a type may adopt it, or give it up, at any time. The names are those
/// of the coding keys. Debug builds compare the two the first time a type is written, and stop the
/// process if they differ.
///
/// Reading and writing allocate nothing beyond what the values themselves need.
public protocol FieldCodable: Codable {
  /// Makes a value from the fields of a record.
  ///
  /// - Parameter fields: Where the fields are read from, in any order; in the order in which ``write(to:)``
  ///   writes them it is fastest.
  /// - Throws: What reading throws.
  init(fields: inout FieldSource) throws

  /// Writes every field once.
  ///
  /// - Parameter fields: Where the fields are written to, in any order. An optional that is nil is
  ///   written too.
  /// - Throws: What writing throws.
  func write(to fields: inout FieldSink) throws
}

/// The fields of one value, to be written into a record by a ``FieldCodable`` type.
///
/// ```swift
/// func write(to fields: inout FieldSink) throws {
///   fields.write("name", name)
///   try fields.write("employer", employer)
/// }
/// ```
///
/// It lives as long as the method it was given to, and belongs to the thread that calls that.
@safe public struct FieldSink: ~Copyable {
  /// Open as long as this lives.
  unowned(unsafe) private let frame: EncodingFrame
  /// What the frame collects.
  private let content: UnsafeMutablePointer<EncodedContent>

  /// Makes a sink for the fields of the value that a frame encodes.
  ///
  /// - Throws: ``ModelError`` if the value has asked for another kind of container.
  init(_ frame: EncodingFrame) throws {
    try frame.use(.map)
    unsafe self.frame = frame
    unsafe content = unsafe frame.content
  }

  /// Writes a field of a type that holds no other value.
  @inline(__always)
  func scalar<Known: RecordScalar>(_ name: StaticString, _ value: Known) {
    unsafe content.pointee.beginField(name)
    unsafe value.append(to: &content.pointee.writer)
    unsafe content.pointee.endEntry()
  }

  /// Writes a field of a type that holds no other value, which may be nil.
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
  /// - Throws: ``ModelError`` that names the field; what the value's own coding throws.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value) throws {
    unsafe content.pointee.beginField(name)
    try unsafe frame.encodeField(value, slot: .required, name: name.description)
  }

  /// Writes a field of any type that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  /// - Throws: ``ModelError`` that names the field; what the value's own coding throws.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value?) throws {
    guard let value else { return null(name) }
    unsafe content.pointee.beginField(name)
    try unsafe frame.encodeField(value, slot: .optional, name: name.description)
  }
}

#if DEBUG
  /// Compares the two ways in which a ``FieldCodable`` type codes, once for each type.
  enum FieldCheck {
    private static let checked = Locked<Set<ObjectIdentifier>>([])

    /// Stops the process if a value has other bytes by its fields than by its `Codable`.
    static func check<Value: FieldCodable>(_ value: Value) {
      guard checked.withLock({ $0.insert(ObjectIdentifier(Value.self)).inserted }) else { return }
      // What can't be encoded is told to the one who asked for it.
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
  /// Writes a truth value.
  public mutating func write(_ name: StaticString, _ value: Bool) { scalar(name, value) }

  /// Writes a truth value that may be nil.
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
