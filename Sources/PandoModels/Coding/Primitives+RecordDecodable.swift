extension Bool: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> Bool {
    let head = try reader.head()
    guard let value = head.bool else { throw ModelError.mismatch("a bool", head) }
    return value
  }
}

extension String: RecordScalarDecodable {
  static func decodeScalar(from reader: inout CBORReader) throws -> String {
    if let bytes = unsafe reader.takeShortText() {
      guard let text = unsafe String(utf8: bytes) else { throw reader.error(.badText) }
      return text
    }
    let head = try reader.head()
    guard head.major == .text else { throw ModelError.mismatch("a text", head) }
    guard let text = unsafe String(utf8: reader.bytes(of: head)) else {
      throw reader.error(.badText)
    }
    return text
  }
}

extension Double: RecordScalarDecodable {
  /// Doubles are read from floats, and from integers that a double holds exactly.
  static func decodeScalar(from reader: inout CBORReader) throws -> Double {
    if let value = reader.takeWideDouble() { return value }
    let head = try reader.head()
    if let value = head.double { return value }
    switch head.major {
    case .unsigned:
      if let value = Double(exactly: head.argument) { return value }
      throw ModelError.inexact(self, String(head.argument))
    case .negative:
      let number = -1 - Int128(head.argument)
      if let value = Double(exactly: number) { return value }
      throw ModelError.inexact(self, String(number))
    default: throw ModelError.mismatch("a number", head)
    }
  }
}

extension Float: RecordScalarDecodable {
  /// Floats are read from what a double is read from, if they hold it exactly.
  static func decodeScalar(from reader: inout CBORReader) throws -> Float {
    let double = try Double.decodeScalar(from: &reader)
    guard let value = Float(narrowing: double) else { throw ModelError.inexact(self, "\(double)") }
    return value
  }
}
