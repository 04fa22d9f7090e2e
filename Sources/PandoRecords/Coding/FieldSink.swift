import PandoModels
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
/// Both are fastest in the order of records: shorter names first, those of one length by their
/// bytes. In this order, reading and writing allocate nothing beyond the values themselves.
/// `@Model` generates them so.
public protocol FieldCodable: Codable {
  /// Makes a value from the fields of a record.
  ///
  /// - Parameter fields: The fields of the record, readable in any order.
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
  /// The frame whose bytes the fields go to; open as long as this value lives.
  unowned(unsafe) private let frame: EncodingFrame
  /// The content of the frame.
  private let content: UnsafeMutablePointer<EncodedContent>
  /// The position of the map, whose head is one byte until ``finish(slot:isMarkedEnum:)``.
  private let start: Int
  private let edgeCount: Int
  private let referenceCount: Int
  private let level: Int
  private var count = 0
  private var last: StaticString = ""
  /// Whether the fields are in the order of records so far.
  private var isSorted = true
  /// Whether a required child was removed.
  private var isLost = false

  /// Begins a value at the end of a frame's bytes.
  ///
  /// - Throws: `ModelError` if it is nested too deep.
  init(_ frame: EncodingFrame, level: Int) throws {
    guard unsafe level <= frame.session.levelLimit else { throw EncodingSession.nestingTooDeep }
    unsafe self.frame = frame
    unsafe content = unsafe frame.content
    self.level = level
    start = unsafe content.pointee.writer.count
    edgeCount = unsafe frame.edges.count
    referenceCount = unsafe frame.referenceCount
    unsafe content.pointee.writer.append(mapHead: 0)
  }

  /// Ends the value.
  ///
  /// - Throws: `ModelError` if a field with a child was written twice.
  mutating func finish(slot: EncodingSlot, isMarkedEnum: Bool) throws -> EncodingOutcome {
    if isLost {
      cancel(from: start, edgeCount: edgeCount, referenceCount: referenceCount)
      return .lost
    }
    let hasReference = unsafe frame.referenceCount > referenceCount
    if !isSorted { try sort(hasReference: hasReference) }
    unsafe content.pointee.writer.setMapHead(count, at: start)
    if slot == .optional, hasReference {
      unsafe content.pointee.writer.insertHead(.tag, RecordTag.optionalSlot, at: start)
    }
    if isMarkedEnum {
      unsafe content.pointee.writer.insertHead(.tag, RecordTag.enumeration, at: start)
    }
    return .written
  }

  /// Removes the bytes from a position on, and what they refer to.
  private func cancel(from position: Int, edgeCount: Int, referenceCount: Int) {
    unsafe content.pointee.writer.truncate(to: position)
    unsafe frame.edges.removeSubrange(edgeCount...)
    unsafe frame.referenceCount = referenceCount
  }

  /// Sorts the fields by the bytes of their keys; of two with one key, the later one stays.
  @inline(never)
  private mutating func sort(hasReference: Bool) throws {
    // The fields lie behind the head, which has one byte.
    let bytes = unsafe Array(content.pointee.writer.buffer.dropFirst(start + 1))
    var fields: [(key: ArraySlice<UInt8>, field: ArraySlice<UInt8>)] = []
    try unsafe bytes.withUnsafeBytes { buffer in
      var reader = unsafe CBORReader(buffer)
      for _ in 0..<count {
        let start = reader.offset
        try reader.skip()
        let value = reader.offset
        try reader.skip()
        fields.append((bytes[start..<value], bytes[start..<reader.offset]))
      }
    }
    unsafe content.pointee.writer.truncate(to: start + 1)
    let sorted = fields.ordered { $0.key.lexicographicallyPrecedes($1.key) }
    for (index, field) in sorted.enumerated() {
      if index + 1 < sorted.count, sorted[index + 1].key == field.key {
        guard !hasReference else {
          throw ModelError(.codingFailed, reason: "write(to:) has written a field twice")
        }
        count -= 1
      } else {
        unsafe content.pointee.writer.append(raw: field.field)
      }
    }
  }

  /// Begins a field; its value follows.
  @inline(__always)
  private mutating func begin(_ name: StaticString) {
    if name.utf8CodeUnitCount <= last.utf8CodeUnitCount { compare(name) }
    last = name
    count &+= 1
    unsafe content.pointee.writer.append(
      text: UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  /// Compares a name that is not longer than the last one: shorter names come first in records.
  @inline(never)
  private mutating func compare(_ name: StaticString) {
    let length = last.utf8CodeUnitCount
    guard count > 0, isSorted else { return }
    isSorted =
      unsafe name.utf8CodeUnitCount == length
      && memcmp(last.utf8Start, name.utf8Start, length) < 0
  }

  /// Writes a field of a scalar type.
  @inline(__always)
  private mutating func scalar<Known: RecordScalar>(_ name: StaticString, _ value: Known) {
    begin(name)
    unsafe value.append(to: &content.pointee.writer)
  }

  /// Writes a field of an optional scalar type.
  @inline(__always)
  private mutating func optional<Known: RecordScalar>(_ name: StaticString, _ value: Known?) {
    if let value { scalar(name, value) } else { null(name) }
  }

  /// Writes a field that is null.
  private mutating func null(_ name: StaticString) {
    begin(name)
    unsafe content.pointee.writer.appendNull()
  }

  /// Writes a field of any type.
  private mutating func encode<Value: Encodable>(
    _ name: StaticString, _ value: Value, slot: EncodingSlot
  ) throws {
    let position = unsafe content.pointee.writer.count
    let (edgeCount, referenceCount) = unsafe (frame.edges.count, frame.referenceCount)
    begin(name)
    let valuePosition = unsafe content.pointee.writer.count
    do {
      if try unsafe frame.encode(value, slot: slot, level: level) == .written { return }
    } catch {
      count -= 1
      cancel(from: position, edgeCount: edgeCount, referenceCount: referenceCount)
      throw ModelError.located(error, inside: name.description)
    }
    cancel(from: valuePosition, edgeCount: edgeCount, referenceCount: referenceCount)
    unsafe content.pointee.writer.appendNull()
    if slot != .optional { isLost = true }
  }

  /// Writes a field of any type.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  /// - Throws: `ModelError` that names the field; the error of the value's own coding.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value) throws {
    try encode(name, value, slot: .required)
  }

  /// Writes a field of any type that may be nil.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value; nil is written as null.
  /// - Throws: `ModelError` that names the field; the error of the value's own coding.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value?) throws {
    guard let value else { return null(name) }
    try encode(name, value, slot: .optional)
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
