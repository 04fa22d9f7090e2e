/// The fields of one value, to be written into a record by a ``FieldCodable`` type.
///
/// It lives as long as the method it was given to.
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
