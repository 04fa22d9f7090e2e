import PandoModels

extension JSONParser {
  /// Reads a text from its opening quote.
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

  /// Reads a text after its opening quote and decodes its escapes.
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

  /// Reads the digits of one `\u` escape, or of two for one character.
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

extension JSONParser {
  /// The most digits of an integer: `Decimal` represents as many exactly.
  private static var maximumDigitCount: Int { 38 }

  /// The powers of ten that a double represents exactly.
  private static let powersOfTen: [Double] = (0...22).map { exponent in
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  /// Reads a number from its first character.
  mutating func number() throws(JSONError) -> TreeValue {
    let start = position
    let isNegative = bytes[position] == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var mantissa: UInt64 = 0
    let integerStart = position
    let integerDigits = try digits(into: &mantissa)
    if integerDigits > 1, bytes[integerStart] == UInt8(ascii: "0") {
      throw error("a number must not begin with 0", at: start)
    }
    var exponent = 0
    var isInteger = true
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      isInteger = false
      position += 1
      exponent = -(try digits(into: &mantissa))
    }
    let digitCount = integerDigits - exponent
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      exponent += try self.exponent()
    }
    if isInteger { return try integer(from: start, isNegative: isNegative, mantissa: mantissa) }

    // Both factors are exact so far, so the product is rounded once, correctly (Clinger, "How to
    // read floating point numbers accurately").
    if digitCount <= 19, mantissa <= 1 << 53, abs(exponent) <= 22 {
      let power = JSONParser.powersOfTen[abs(exponent)]
      let value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
      return .double(isNegative ? -value : value)
    }
    return try slowDouble(from: start)
  }

  /// Reads digits; the value is right for up to 19 of them.
  private mutating func digits(into mantissa: inout UInt64) throws(JSONError) -> Int {
    let start = position
    while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10
    {
      mantissa = mantissa &* 10 &+ UInt64(digit)
      position += 1
    }
    guard position > start else { throw error("expected a digit, found \(found)") }
    return position - start
  }

  private mutating func exponent() throws(JSONError) -> Int {
    position += 1
    var isNegative = false
    if position < bytes.count,
      bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+")
    {
      isNegative = bytes[position] == UInt8(ascii: "-")
      position += 1
    }
    var value: UInt64 = 0
    // `slowDouble` reads numbers with a long exponent, even if it begins with zeros.
    let exponent = try digits(into: &value) > 9 ? 999_999_999 : Int(value)
    return isNegative ? -exponent : exponent
  }

  private func integer(
    from start: Int, isNegative: Bool, mantissa: UInt64
  ) throws(JSONError) -> TreeValue {
    let digitCount = position - start - (isNegative ? 1 : 0)
    if digitCount <= 18 {
      // JSON distinguishes -0 from 0; only a double represents the difference.
      if isNegative, mantissa == 0 { return .double(-0.0) }
      return .integer(isNegative ? -Int64(mantissa) : Int64(mantissa))
    }
    guard digitCount <= JSONParser.maximumDigitCount else {
      throw error(
        "an integer of \(digitCount) digits cannot be kept exactly;"
          + " \(JSONParser.maximumDigitCount) is the limit", at: start)
    }
    var magnitude: UInt128 = 0
    for index in (position - digitCount)..<position {
      magnitude = magnitude * 10 + UInt128(bytes[index] &- UInt8(ascii: "0"))
    }
    return .decimalInteger(magnitude: magnitude, isNegative: isNegative)
  }

  private func slowDouble(from start: Int) throws(JSONError) -> TreeValue {
    let digits = bytes.extracting(start..<position)
    // The bytes are ASCII digits and signs, so they are UTF-8.
    guard let span = try? UTF8Span(validating: digits),
      let value = Double(String(copying: span)), value.isFinite
    else {
      throw error("the number is larger than a double can hold", at: start)
    }
    if value == 0, hasDigit(from: start) {
      throw error("the number is nearer to 0 than a double can hold", at: start)
    }
    return .double(value)
  }

  /// Whether a number has a nonzero digit before its exponent.
  private func hasDigit(from start: Int) -> Bool {
    for index in start..<position {
      switch bytes[index] {
      case UInt8(ascii: "1")...UInt8(ascii: "9"): return true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): return false
      default: continue
      }
    }
    return false
  }
}

extension TreeValue {
  /// The narrowest case for an integer; above 64 bits a decimal number (CBOR tag 4) with exponent
  /// zero.
  static func decimalInteger(magnitude: UInt128, isNegative: Bool) -> TreeValue {
    if !isNegative {
      if let value = TreeValue(exactly: magnitude) { return value }
      return .tagged(4, .array([0, .tagged(2, .bytes(magnitude.significantBytes))]))
    }
    if magnitude <= UInt128(Int64.max) + 1 { return .integer(Int64(-Int128(magnitude))) }
    return .tagged(4, .array([0, .tagged(3, .bytes((magnitude - 1).significantBytes))]))
  }
}

extension UInt128 {
  /// The big-endian bytes without leading zeros.
  fileprivate var significantBytes: [UInt8] {
    let byteCount = (128 - leadingZeroBitCount + 7) / 8
    return (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}
