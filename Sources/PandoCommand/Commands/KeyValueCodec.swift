import PandoModels

/// Keys and values as the command line writes them: text, or hexadecimal digits.
struct KeyValueCodec: Sendable {
  /// Whether bytes are written as hexadecimal digits.
  let isHex: Bool

  /// The bytes that a text stands for.
  ///
  /// - Throws: A usage error that names the argument when the text is no hexadecimal number.
  func bytes(_ text: String, _ name: String) throws(CommandError) -> [UInt8] {
    guard isHex else { return Array(text.utf8) }
    let digits = Array(text.utf8)
    var bytes: [UInt8] = []
    guard digits.count.isMultiple(of: 2) else { throw notHex(text, name) }
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
      // A sign would be taken for part of a number.
      guard !pair.hasPrefix("+"), !pair.hasPrefix("-"), let byte = UInt8(pair, radix: 16) else {
        throw notHex(text, name)
      }
      bytes.append(byte)
    }
    return bytes
  }

  /// Bytes as text: the text they are, with escapes for control characters and for bytes that are
  /// no UTF-8; or two hexadecimal digits each.
  func text(_ bytes: [UInt8]) -> String {
    if isHex { return bytes.map(KeyValueCodec.digits).joined() }
    if let text = String(validating: bytes, as: UTF8.self) { return text.escapingControlCharacters }
    var text = ""
    var decoder = UTF8()
    var rest = bytes[...]
    while !rest.isEmpty {
      var iterator = rest.makeIterator()
      decoder = UTF8()
      if case .scalarValue(let scalar) = decoder.decode(&iterator) {
        text += String(Character(scalar)).escapingControlCharacters
        rest.removeFirst(UTF8.width(scalar))
      } else {
        text += "\\x" + KeyValueCodec.digits(rest.removeFirst())
      }
    }
    return text
  }

  /// Bytes as a JSON value that loses nothing: the text they are, or hexadecimal digits, which
  /// stand in an object unless all bytes are written so.
  func json(_ bytes: [UInt8]) -> TreeValue {
    if !isHex, let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
    let digits = TreeValue.string(bytes.map(KeyValueCodec.digits).joined())
    return isHex ? digits : ["hex": digits]
  }

  private static func digits(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }

  private func notHex(_ text: String, _ name: String) -> CommandError {
    CommandError(
      .usage, "\(name) “\(text)” is not hexadecimal",
      remedy: "give two digits for each byte, or leave out --hex")
  }
}
