import PandoModels

/// Reads one JSON text (RFC 8259) into a `TreeValue`.
///
/// Foundation's `JSONSerialization` cannot read a document exactly. It changes the last bits of
/// doubles with more than 17 digits, rounds long integers, drops one of two equal names, and
/// accepts `[1,]`. The tests compare the two parsers where Foundation is right.
///
/// Open containers are on a separate stack, so a deep text cannot exhaust the thread's stack.
struct JSONParser: ~Escapable {
  /// The most open containers; in the lossless form a node in a list takes four.
  static var maximumDepth: Int {
    4 * RecordLimits.maximumNodeDepth + RecordLimits.maximumNestingDepth
  }

  private struct Container {
    let isObject: Bool
    let start: Int
    let firstValue: Int
    let firstName: Int
  }

  let bytes: Span<UInt8>
  let form: JSONForm
  var position = 0
  private var containers: [Container] = []
  /// The complete values of all open containers.
  private var values: [TreeValue] = []
  /// The names in all open objects, with their positions.
  private var names: [(text: String, position: Int)] = []

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, form: JSONForm) {
    self.bytes = bytes
    self.form = form
  }

  /// Reads the whole text.
  mutating func parse() throws(JSONError) -> TreeValue {
    if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf { position = 3 }
    var isBeforeValue = true
    while true {
      if isBeforeValue {
        isBeforeValue = try beginValue()
      } else if let container = containers.last {
        isBeforeValue = try continueContainer(container)
      } else {
        break
      }
    }
    skipSpace()
    guard position == bytes.count else {
      throw error("expected nothing more after the value, found \(found)")
    }
    return values.removeLast()
  }

  /// Reads a whole scalar, or opens a container.
  ///
  /// - Returns: Whether a container was opened, so that its first value is next.
  private mutating func beginValue() throws(JSONError) -> Bool {
    skipSpace()
    guard position < bytes.count else { throw error("expected a value, found \(found)") }
    switch bytes[position] {
    case UInt8(ascii: "{"): return try open(isObject: true)
    case UInt8(ascii: "["): return try open(isObject: false)
    case UInt8(ascii: "\""): values.append(.string(try string()))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): values.append(try number())
    case UInt8(ascii: "t"): try literal("true", .bool(true))
    case UInt8(ascii: "f"): try literal("false", .bool(false))
    case UInt8(ascii: "n"): try literal("null", .null)
    default: throw error("expected a value, found \(found)")
    }
    return false
  }

  private mutating func open(isObject: Bool) throws(JSONError) -> Bool {
    let start = position
    position += 1
    skipSpace()
    if position < bytes.count, bytes[position] == UInt8(ascii: isObject ? "}" : "]") {
      position += 1
      values.append(isObject ? .object([:]) : .array([]))
      return false
    }
    guard containers.count < JSONParser.maximumDepth else {
      throw error("nested deeper than \(JSONParser.maximumDepth) containers", at: start)
    }
    containers.append(
      Container(
        isObject: isObject, start: start, firstValue: values.count, firstName: names.count))
    if isObject { try name() }
    return true
  }

  /// Reads the text after a value in a container.
  ///
  /// - Returns: `true` after a comma, `false` at the container's end.
  private mutating func continueContainer(_ container: Container) throws(JSONError) -> Bool {
    skipSpace()
    let end = UInt8(ascii: container.isObject ? "}" : "]")
    guard position < bytes.count, bytes[position] == UInt8(ascii: ",") || bytes[position] == end
    else {
      throw error("expected , or \(Character(UnicodeScalar(end))), found \(found)")
    }
    position += 1
    guard bytes[position - 1] == end else {
      if container.isObject { try name() }
      return true
    }
    containers.removeLast()
    if container.isObject {
      try closeObject(container)
    } else {
      let elements = Array(values[container.firstValue...])
      values.removeSubrange(container.firstValue...)
      values.append(.array(elements))
    }
    return false
  }

  private mutating func closeObject(_ container: Container) throws(JSONError) {
    let count = values.count - container.firstValue
    var fields = [String: TreeValue](minimumCapacity: count)
    var hasEscape = false
    for index in 0..<count {
      let name = names[container.firstName + index]
      hasEscape = hasEscape || name.text.utf8.first == UInt8(ascii: "$")
      let value = values[container.firstValue + index]
      guard fields.updateValue(value, forKey: name.text) == nil else {
        throw error("the name \"\(name.text)\" occurs twice in one object", at: name.position)
      }
    }
    values.removeSubrange(container.firstValue...)
    names.removeSubrange(container.firstName...)
    guard hasEscape, form == .lossless else {
      values.append(.object(fields))
      return
    }
    do {
      values.append(try JSONEscape.value(of: fields))
    } catch {
      throw self.error(error.reason, at: container.start)
    }
  }

  private mutating func name() throws(JSONError) {
    skipSpace()
    let start = position
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      throw error("expected a name in quotes, found \(found)")
    }
    names.append((try string(), start))
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
      throw error("expected a colon after the name, found \(found)")
    }
    position += 1
  }

  private mutating func literal(_ word: StaticString, _ value: TreeValue) throws(JSONError) {
    let start = position
    for byte in word.description.utf8 {
      guard position < bytes.count, bytes[position] == byte else {
        throw error("expected a value, found a word that is not \(word)", at: start)
      }
      position += 1
    }
    values.append(value)
  }

  mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        position += 1
      default: return
      }
    }
  }

  /// The character at the position, for messages.
  var found: String {
    guard position < bytes.count else { return "the end" }
    switch bytes[position] {
    case 0x21...0x7e: return "\(Character(UnicodeScalar(bytes[position])))"
    case let byte: return "the byte 0x" + String(byte, radix: 16)
    }
  }

  func error(_ reason: String, at position: Int? = nil) -> JSONError {
    JSONError(reason: reason, at: position ?? self.position, in: bytes)
  }
}
