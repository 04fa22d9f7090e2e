import PandoModels

extension Optional: RecordDecodable where Wrapped: Decodable {
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> Wrapped? {
    if reader.takeNull() { return nil }
    return try session.decode(Wrapped.self, from: &reader, level: level)
  }
}

extension Array: RecordDecodable where Element: Decodable {
  /// Lists are read from arrays; a list of bytes also from a byte string.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> [Element] {
    if Element.self == UInt8.self, try reader.peek().major == .bytes {
      let bytes = unsafe [UInt8](unsafe try reader.byteString())
      // `Element` is `UInt8`, so both are the same type.
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
  /// The largest reserved capacity, because a few damaged bytes may claim any number of elements.
  static let reservedCountMaximum = 1024

  /// Reads the elements of an array.
  fileprivate func decodeElements<Element: Decodable>(
    _ type: Element.Type, from reader: inout CBORReader, level: Int, reserve: (Int) -> Void,
    append: (Element) -> Void
  ) throws {
    guard unsafe level < levelLimit else { throw EncodingSession.nestingTooDeep }
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

extension Dictionary: RecordDecodable where Key: Decodable, Value: Decodable {
  /// Dictionaries are read from maps; without text keys also from an array of alternating keys and
  /// values, the form of their own coding.
  static func decodeRecord(
    from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> [Key: Value] {
    guard unsafe level < session.levelLimit else { throw EncodingSession.nestingTooDeep }
    var head = try reader.head()
    while head.major == .tag,
      head.argument == RecordTag.entries || head.argument == RecordTag.optionalSlot
    {
      head = try reader.head()
    }
    let isText = DictionaryKey.isText(Key.self)
    guard head.major == .map || (head.major == .array && !isText && head.argument % 2 == 0) else {
      throw ModelError.mismatch("a map", head)
    }
    let count = Int(head.major == .map ? head.argument : head.argument / 2)
    let traits = unsafe TypeTable.traits(of: Value.self)
    var entries: [Key: Value] = [:]
    entries.reserveCapacity(Swift.min(count, 1024))
    for _ in 0..<count {
      let (key, name) = try decodeKey(isText, from: &reader, in: session, level: level)
      do {
        let value = try unsafe session.decode(
          Value.self, traits, from: &reader, level: level + 1)
        if entries.updateValue(value, forKey: key) != nil {
          throw ModelError(
            .duplicateKey, reason: "the map has another key that is equal to this one")
        }
      } catch {
        throw ModelError.located(error, inside: name())
      }
    }
    return entries
  }

  private static func decodeKey(
    _ isText: Bool, from reader: inout CBORReader, in session: DecodingSession, level: Int
  ) throws -> (Key, name: () -> String) {
    guard isText else {
      let key = try session.decode(Key.self, from: &reader, level: level + 1)
      return (key, { "[\(key)]" })
    }
    let text = try String.decodeRecord(from: &reader, in: session, level: level)
    guard let key = DictionaryKey.key(Key.self, text) else {
      throw ModelError(.typeMismatch, reason: "the key \"\(text)\" is no \(Key.self)")
    }
    return (key, { text })
  }
}

extension DictionaryKey {
  /// The key of a text; `nil` if there is none.
  static func key<Key>(_ type: Key.Type, _ text: String) -> Key? {
    if type == String.self { return text as? Key }
    if type == Int.self { return Int(text) as? Key }
    guard let type = type as? any CodingKeyRepresentable.Type else { return nil }
    // The standard library passes `intValue` to keys that have one.
    let key = RecordCodingKey(text, intValue: Int(text))
    return type.init(codingKey: key) as? Key
  }
}
