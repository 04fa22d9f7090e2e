/// The fields of one value, to be written into a record by a ``FieldCodable`` type.
///
/// It lives as long as the method it was given to.
@safe public struct FieldSink: ~Copyable {
  /// Open as long as this lives.
  unowned(unsafe) private let frame: EncodingFrame

  /// Makes a sink for the fields of the value that a frame encodes.
  ///
  /// - Throws: ``ModelError`` if the value has asked for another kind of container.
  init(_ frame: EncodingFrame) throws {
    try frame.use(.map)
    unsafe self.frame = frame
  }

  /// Writes a field of a type that holds no other value.
  @inline(__always)
  func scalar<Known: RecordScalar>(_ name: StaticString, _ value: Known) {
    unsafe frame.beginField(name)
    unsafe value.append(to: &frame.writer)
    unsafe frame.endEntry()
  }

  /// Writes a field that is null.
  func null(_ name: StaticString) {
    unsafe frame.beginField(name)
    unsafe frame.writer.appendNull()
    unsafe frame.endEntry()
  }

  /// Writes a field of any type.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: Its value.
  /// - Throws: ``ModelError`` that names the field; what the value's own coding throws.
  public mutating func write<Value: Encodable>(_ name: StaticString, _ value: Value) throws {
    unsafe frame.beginField(name)
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
    unsafe frame.beginField(name)
    try unsafe frame.encodeField(value, slot: .optional, name: name.description)
  }
}
