import Foundation

/// Writes a ``TreeValue`` as JSON: names sorted by their bytes, no choice left open.
struct JSONWriter {
  let form: JSONForm
  let isPretty: Bool
  private(set) var output: [UInt8] = []
  private var depth = 0

  init(form: JSONForm, isPretty: Bool) {
    self.form = form
    self.isPretty = isPretty
  }

  mutating func write(_ value: TreeValue) {
    switch value {
    case .null: append("null")
    case .bool(let value): append(value ? "true" : "false")
    case .integer(let value): append(value.description)
    case .unsigned(let value): append(value.description)
    case .double(let value): write(value)
    case .string(let value): write(value)
    case .bytes(let value): write(bytes: value)
    case .array(let values): write(elements: values)
    case .object(let fields): write(fields: fields)
    case .entries(let entries): write(entries: entries)
    case .tagged(let tag, let value): write(value, tag: tag)
    case .node(let node): write(node)
    case .reference(let identifier, let typeName):
      write("$reference", .array([.string(identifier), .string(typeName)]))
    case .required(let value):
      if form == .plain { write(value) } else { write("$required", value) }
    }
  }

  private mutating func write(_ value: Double) {
    guard !value.isFinite else { return append(value.description) }
    guard form == .lossless else { return write(value.isNaN ? "NaN" : value.infinityText) }
    let digits = String(value.bitPattern, radix: 16)
    let zeros = String(repeating: "0", count: 16 - digits.utf8.count)
    write("$double", .string(zeros + digits))
  }

  private mutating func write(bytes: [UInt8]) {
    let text = Data(bytes).base64EncodedString()
    if form == .plain { write(text) } else { write("$bytes", .string(text)) }
  }

  private mutating func write(_ node: TreeNode) {
    guard form == .lossless else { return write(node.fields) }
    write("$node", .array([.string(node.identifier), .string(node.typeName), node.fields]))
  }

  private mutating func write(_ value: TreeValue, tag: UInt64) {
    if form == .plain {
      if let number = JSONWriter.number(of: value, tag: tag) { return append(number) }
      if let text = JSONWriter.text(of: value, tag: tag) { return write(text) }
    }
    write("$tagged", .array([TreeValue(exactly: tag) ?? .null, value]))
  }

  private mutating func write(entries: [TreeValue: TreeValue]) {
    if form == .plain {
      let fields = entries.compactMap { key, value in key.stringValue.map { ($0, value) } }
      if fields.count == entries.count { return write(sorted: fields) }
    }
    let pairs = entries.map { key, value in (key.json(.lossless), TreeValue.array([key, value])) }
    let sorted = pairs.sorted { $0.0.hasBytes(before: $1.0) }
    let elements = sorted.map(\.1)
    if form == .plain { write(elements: elements) } else { write("$entries", .array(elements)) }
  }

  /// Writes an object with one field that stands for another value.
  private mutating func write(_ escape: String, _ value: TreeValue) {
    append("{")
    depth += 1
    breakLine()
    write(escape)
    append(isPretty ? ": " : ":")
    write(value)
    depth -= 1
    breakLine()
    append("}")
  }

  private mutating func write(elements: [TreeValue]) {
    guard !elements.isEmpty else { return append("[]") }
    append("[")
    depth += 1
    for (index, element) in elements.enumerated() {
      if index > 0 { append(",") }
      breakLine()
      write(element)
    }
    depth -= 1
    breakLine()
    append("]")
  }

  private mutating func write(fields: [String: TreeValue]) {
    write(sorted: Array(fields))
  }

  private mutating func write(sorted fields: [(key: String, value: TreeValue)]) {
    guard !fields.isEmpty else { return append("{}") }
    append("{")
    depth += 1
    var isFirst = true
    for (name, value) in fields.sorted(by: { $0.key.hasBytes(before: $1.key) }) {
      if !isFirst { append(",") }
      isFirst = false
      breakLine()
      let needsEscape = form == .lossless && name.utf8.first == UInt8(ascii: "$")
      write(needsEscape ? "$" + name : name)
      append(isPretty ? ": " : ":")
      write(value)
    }
    depth -= 1
    breakLine()
    append("}")
  }

  private mutating func write(_ text: String) {
    append("\"")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): append("\\\"")
      case UInt8(ascii: "\\"): append("\\\\")
      case 0x0a: append("\\n")
      case 0x0d: append("\\r")
      case 0x09: append("\\t")
      case 0..<0x20:
        append("\\u00")
        output.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
        append(String(byte & 0xf, radix: 16))
      default: output.append(byte)
      }
    }
    append("\"")
  }

  private mutating func breakLine() {
    guard isPretty else { return }
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }

  private mutating func append(_ text: String) {
    output.append(contentsOf: text.utf8)
  }
}

extension Double {
  fileprivate var infinityText: String { self < 0 ? "-Infinity" : "Infinity" }
}
