extension JSONParser {
  /// Reads a text, with the position at its first quote.
  mutating func string() throws(JSONError) -> String {
    let start = position
    position += 1
    var index = position
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        let text = try self.text(bytes.extracting(position..<index), from: position)
        position = index + 1
        return text
      }
      if byte == UInt8(ascii: "\\") { return try stringWithEscapes() }
      guard byte >= 0x20 else {
        throw error("a control character in a text must be written as an escape", at: index)
      }
      index += 1
    }
    throw error("the text that begins here has no end", at: start)
  }

  /// Reads on after the first quote of a text, and takes escapes for what they mean.
  private mutating func stringWithEscapes() throws(JSONError) -> String {
    let start = position
    var content: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        let text = try self.text(content.span, from: start)
        position += 1
        return text
      case UInt8(ascii: "\\"):
        try escape(into: &content)
      case 0..<0x20:
        throw error("a control character in a text must be written as an escape")
      default:
        content.append(byte)
        position += 1
      }
    }
    throw error("the text that begins here has no end", at: start - 1)
  }

  private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
    let start = position
    position += 2
    guard start + 1 < bytes.count else {
      throw error("the text ends in the middle of an escape", at: start)
    }
    switch bytes[start + 1] {
    case UInt8(ascii: "\""): content.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): content.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "/"): content.append(UInt8(ascii: "/"))
    case UInt8(ascii: "b"): content.append(0x08)
    case UInt8(ascii: "f"): content.append(0x0c)
    case UInt8(ascii: "n"): content.append(0x0a)
    case UInt8(ascii: "r"): content.append(0x0d)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"): content.append(contentsOf: try unicodeScalar(from: start).utf8)
    default: throw error("an escape that JSON does not have", at: start)
    }
  }

  /// Reads the digits of one `\u` escape, or of the two that make one character.
  private mutating func unicodeScalar(from start: Int) throws(JSONError) -> String {
    let first = try hexadecimal(from: start)
    if let scalar = UnicodeScalar(first) { return String(scalar) }
    guard first < 0xdc00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else {
      throw error("half of a surrogate pair is no character", at: start)
    }
    position += 2
    let second = try hexadecimal(from: start)
    guard (0xdc00..<0xe000).contains(second),
      let scalar = UnicodeScalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else {
      throw error("half of a surrogate pair is no character", at: start)
    }
    return String(scalar)
  }

  private mutating func hexadecimal(from start: Int) throws(JSONError) -> UInt32 {
    guard bytes.count - position >= 4 else {
      throw error("expected four hexadecimal digits after \\u", at: start)
    }
    var result: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = Character(UnicodeScalar(bytes[position])).hexDigitValue else {
        throw error("expected four hexadecimal digits after \\u", at: start)
      }
      result = result << 4 | UInt32(digit)
      position += 1
    }
    return result
  }

  private func text(_ content: Span<UInt8>, from start: Int) throws(JSONError) -> String {
    do {
      return String(copying: try UTF8Span(validating: content))
    } catch {
      throw self.error("the text holds bytes that are not UTF-8", at: start)
    }
  }
}
