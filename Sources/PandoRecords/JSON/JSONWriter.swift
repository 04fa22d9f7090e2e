import FoundationEssentials
import PandoModels
import PandoSystem

/// Writes a `TreeValue` as JSON in one fixed form, with names sorted by their bytes.
///
/// Open containers are on a separate stack, as in ``JSONParser``.
struct JSONWriter {
  /// An open array or object.
  private struct Container {
    /// The names of an object's fields; `nil` for an array.
    let names: [String]?
    let values: [TreeValue]
    var next = 0
  }

  private let form: JSONForm
  private let isPretty: Bool
  private(set) var output: [UInt8] = []
  private var containers: [Container] = []

  init(form: JSONForm, isPretty: Bool) {
    self.form = form
    self.isPretty = isPretty
  }

  mutating func write(_ value: TreeValue) {
    begin(value)
    while let last = containers.indices.last {
      if containers[last].next < containers[last].values.count {
        writeNext(of: last)
      } else {
        let end = containers.removeLast().names == nil ? "]" : "}"
        breakLine()
        append(end)
      }
    }
  }

  /// Writes a whole scalar, or opens a container.
  private mutating func begin(_ value: TreeValue) {
    switch value {
    case .null: append("null")
    case .bool(let value): append(value ? "true" : "false")
    case .integer(let value): append(value.description)
    case .unsigned(let value): append(value.description)
    case .double(let value): write(value)
    case .string(let value): write(value)
    case .bytes(let value): write(bytes: value)
    case .array(let values): open(values)
    case .object(let fields): open(fields)
    case .entries(let entries): open(entries)
    case .tagged(let tag, let value): write(value, tag: tag)
    case .node(let node): open(node)
    case .reference(let identifier, let typeName):
      open("$reference", .array([.string(identifier), .string(typeName)]))
    case .required(let value):
      if form == .plain { begin(value) } else { open("$required", value) }
    }
  }

  /// Writes the next value of the innermost container, which has the given index.
  private mutating func writeNext(of last: Int) {
    let next = containers[last].next
    containers[last].next += 1
    if next > 0 { output.append(UInt8(ascii: ",")) }
    breakLine()
    if let name = containers[last].names?[next] {
      write(name)
      output.append(UInt8(ascii: ":"))
      if isPretty { output.append(UInt8(ascii: " ")) }
    }
    begin(containers[last].values[next])
  }

  private mutating func write(_ value: Double) {
    guard !value.isFinite else { return append(value.description) }
    guard form == .lossless else {
      return write(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
    }
    let digits = String(value.bitPattern, radix: 16)
    let zeros = String(repeating: "0", count: 16 - digits.utf8.count)
    open("$double", .string(zeros + digits))
  }

  private mutating func write(bytes: [UInt8]) {
    let text = Data(bytes).base64EncodedString()
    if form == .plain { write(text) } else { open("$bytes", .string(text)) }
  }

  private mutating func write(_ value: TreeValue, tag: UInt64) {
    if form == .plain {
      if let number = JSONWriter.number(of: value, tag: tag) { return append(number) }
      if let text = JSONWriter.text(of: value, tag: tag) { return write(text) }
    }
    open("$tagged", .array([TreeValue(exactly: tag) ?? .null, value]))
  }

  private mutating func open(_ node: TreeNode) {
    guard form == .lossless else { return begin(node.fields) }
    open("$node", .array([.string(node.identifier), .string(node.typeName), node.fields]))
  }

  private mutating func open(_ values: [TreeValue]) {
    guard !values.isEmpty else { return append("[]") }
    append("[")
    containers.append(Container(names: nil, values: values))
  }

  private mutating func open(_ fields: [String: TreeValue]) {
    guard !fields.isEmpty else { return append("{}") }
    let sorted = fields.sorted(shorterFirst: false)
    let names = sorted.map { name, _ in
      form == .lossless && name.utf8.first == UInt8(ascii: "$") ? "$" + name : name
    }
    append("{")
    containers.append(Container(names: names, values: sorted.map(\.value)))
  }

  /// Opens an object whose single field represents another value.
  private mutating func open(_ escape: String, _ value: TreeValue) {
    append("{")
    containers.append(Container(names: [escape], values: [value]))
  }

  private mutating func open(_ entries: [TreeValue: TreeValue]) {
    if form == .plain {
      let fields = entries.compactMap { key, value in key.stringValue.map { ($0, value) } }
      // Two spellings of one name would be the same field.
      let object = Dictionary(fields) { first, _ in first }
      if object.count == entries.count { return open(object) }
    }
    let pairs = entries.map { key, value in (key.json(.lossless), TreeValue.array([key, value])) }
    let sorted = pairs.ordered { $0.0.hasBytes(before: $1.0) }.map(\.1)
    if form == .plain { open(sorted) } else { open("$entries", .array(sorted)) }
  }

  private mutating func write(_ text: String) {
    output.append(UInt8(ascii: "\""))
    let bytes = text.utf8Span.span
    if bytes.indices.contains(where: { JSONWriter.needsEscape(bytes[$0]) }) {
      for index in bytes.indices { writeEscaped(bytes[index]) }
    } else {
      append(text)
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func writeEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x0a: append("\\n")
    case 0x0d: append("\\r")
    case 0x09: append("\\t")
    case 0..<0x20:
      append("\\u00")
      output.append(UInt8(ascii: byte < 0x10 ? "0" : "1"))
      append(String(byte & 0xf, radix: 16))
    default: output.append(byte)
    }
  }

  private mutating func breakLine() {
    guard isPretty else { return }
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * containers.count))
  }

  private mutating func append(_ text: String) {
    output.append(contentsOf: text.utf8)
  }
}

extension JSONWriter {
  /// The usual text of a tagged URL or UUID.
  static func text(of value: TreeValue, tag: UInt64) -> String? {
    switch (tag, value) {
    case (32, .string(let text)):
      return text
    case (37, .bytes(let bytes)) where bytes.count == 16:
      let digits = bytes.map { ($0 < 0x10 ? "0" : "") + String($0, radix: 16, uppercase: true) }
      let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      return groups.map { digits[$0].joined() }.joined(separator: "-")
    default:
      return nil
    }
  }

  /// The digits of a tagged number: an integer above 64 bits or a decimal number.
  static func number(of value: TreeValue, tag: UInt64) -> String? {
    switch (tag, value) {
    case (2, .bytes(let bytes)):
      return magnitude(of: bytes)?.description
    case (3, .bytes(let bytes)):
      guard let magnitude = magnitude(of: bytes), magnitude < .max else { return nil }
      return "-" + (magnitude + 1).description
    case (4, .array(let parts)) where parts.count == 2:
      guard case .integer(let exponent) = parts[0], let digits = integer(parts[1]) else {
        return nil
      }
      return DecimalText.text(digits, exponent: exponent)
    default:
      return nil
    }
  }

  private static func integer(_ value: TreeValue) -> String? {
    switch value {
    case .integer(let value): value.description
    case .unsigned(let value): value.description
    case .tagged(let tag, let value) where tag == 2 || tag == 3: number(of: value, tag: tag)
    default: nil
    }
  }

  private static func magnitude(of bytes: [UInt8]) -> UInt128? {
    guard bytes.count <= 16 else { return nil }
    return bytes.reduce(0) { $0 << 8 | UInt128($1) }
  }
}
