extension Optional: RecordDecodable where Wrapped: Decodable {
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Wrapped? {
    if try reader.takeNull() { return nil }
    return try session.decode(Wrapped.self, from: &reader, level: level)
  }
}

extension Array: RecordDecodable where Element: Decodable {
  /// Lists are read from arrays; a list of bytes from a byte string too.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> [Element] {
    if Element.self == UInt8.self, try reader.peek().major == .bytes {
      let bytes = unsafe [UInt8](unsafe try reader.byteString())
      // `Element` is `UInt8`: two names of one type.
      return unsafe unsafeBitCast(bytes, to: [Element].self)
    }
    var elements: [Element] = []
    try session.decodeElements(Element.self, from: &reader, level: level) { count in
      elements.reserveCapacity(count)
    } append: {
      elements.append($0)
    }
    return elements
  }
}

extension Set: RecordDecodable where Element: Decodable {
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Set<Element> {
    var elements: Set<Element> = []
    try session.decodeElements(Element.self, from: &reader, level: level) { count in
      elements.reserveCapacity(count)
    } append: {
      elements.insert($0)
    }
    return elements
  }
}

extension DecodingSession {
  /// The most elements that room is made for before the first is read: a few damaged bytes may claim
  /// any number.
  private static let reservedCountMaximum = 1024

  /// Reads the elements of an array.
  fileprivate func decodeElements<Element: Decodable>(
    _ type: Element.Type, from reader: inout CBORReader, level: Int, reserve: (Int) -> Void,
    append: (Element) -> Void
  ) throws {
    guard level < RecordLimits.maximumNestingDepth else { throw EncodingSession.nestingTooDeep }
    let head = try reader.head()
    guard head.major == .array else { throw ModelError.mismatch("an array", head) }
    let count = Int(head.argument)
    let traits = unsafe TypeTable.traits(of: type)
    reserve(min(count, Self.reservedCountMaximum))
    for index in 0..<count {
      do {
        append(try unsafe decode(type, traits, from: &reader, level: level + 1))
      } catch {
        throw ModelError.located(error, inside: "[\(index)]")
      }
    }
  }
}
