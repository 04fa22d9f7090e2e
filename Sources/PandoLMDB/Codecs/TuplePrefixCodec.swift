/// What a range over the first elements of tuples needs.
protocol TuplePrefixCodec {
  /// Writes the first elements only.
  func encodePrefix(_ elements: [Any], into buffer: inout EncodingBuffer) throws
}

extension KeyCodec {
  /// Writes an element whose type the range has checked already.
  func encodePrefixElement(_ element: Any, into buffer: inout EncodingBuffer) throws {
    guard let element = element as? Value else {
      preconditionFailure("\(element) is no \(Value.self)")
    }
    try encodeElement(element, into: &buffer)
  }
}
