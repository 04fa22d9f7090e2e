import FoundationEssentials
public import PandoModels

extension TreeValue {
  /// Reads a value from JSON.
  ///
  /// Numbers are read exactly: integers as integers, also above `Int64.max`, and up to 38 digits as
  /// a decimal number. Numbers with a fraction or an exponent are read as the nearest double. A
  /// name that occurs twice in one object is an error, because only one could be kept.
  ///
  /// - Parameters:
  ///   - json: A JSON text.
  ///   - form: `JSONForm.plain` reads the JSON unchanged, `JSONForm.lossless` decodes the
  ///     objects that represent other values.
  /// - Throws: `JSONError` with line, column and reason.
  /// - Complexity: O(*n*) for *n* bytes. Depth is limited to 4 224 containers.
  public init(json: String, form: JSONForm = .plain) throws(JSONError) {
    var json = json
    json.makeContiguousUTF8()
    try self.init(json: json.utf8Span.span, form: form)
  }

  /// Reads a value from the UTF-8 bytes of a JSON text.
  ///
  /// Same as for a text; a byte order mark at the beginning is skipped.
  ///
  /// - Parameters:
  ///   - json: The bytes of a JSON text.
  ///   - form: `JSONForm.plain` reads the JSON unchanged, `JSONForm.lossless` decodes the
  ///     objects that represent other values.
  /// - Throws: `JSONError` with line, column and reason.
  /// - Complexity: O(*n*) for *n* bytes. Depth is limited to 4 224 containers.
  public init(json: Span<UInt8>, form: JSONForm = .plain) throws(JSONError) {
    var parser = JSONParser(json, form: form)
    self = try parser.parse()
  }

  /// Returns the value as JSON.
  ///
  /// Equal values have the same text on every machine. Names are sorted by their bytes; doubles
  /// have the shortest text that is read exactly and differs from an integer (`1.0`).
  ///
  /// - Parameters:
  ///   - form: The form of values that have no counterpart in JSON.
  ///   - isPretty: Whether each element or field has its own line, indented by two spaces.
  /// - Returns: The text, without a final line break.
  public func json(_ form: JSONForm = .plain, isPretty: Bool = false) -> String {
    var writer = JSONWriter(form: form, isPretty: isPretty)
    writer.write(self)
    return String(decoding: writer.output, as: UTF8.self)
  }
}

extension TreeValue: CustomStringConvertible {
  /// The value as JSON in one line, in its lossless form.
  public var description: String { json(.lossless) }
}

/// The form in JSON of values that have no counterpart there.
///
/// ```swift
/// let value = TreeValue.bytes([1, 2, 3])
/// print(value.json(.plain), value.json(.lossless))  // "AQID" {"$bytes":"AQID"}
/// let same = try TreeValue(json: value.json(.lossless), form: .lossless)
/// ```
public enum JSONForm: Hashable, Sendable {
  /// JSON for people and other programs.
  ///
  /// A node is written as its fields; bytes are base64; UUIDs, URLs and decimal numbers have their
  /// usual text. Doubles that are not numbers are the texts `NaN`, `Infinity` and `-Infinity`. A
  /// named node without content is `{"$reference": [identifier, type]}`. Other values are as in
  /// ``lossless``. Reading keeps such objects and makes no nodes.
  case plain

  /// JSON that is read as exactly the same value.
  ///
  /// Values without a counterpart in JSON are objects with one name that begins with `$`:
  ///
  /// | JSON | value |
  /// |---|---|
  /// | `{"$bytes": "…"}` | `TreeValue.bytes(_:)` in base64 |
  /// | `{"$double": "7ff8000000000000"}` | a `TreeValue.double(_:)` that is not finite, its bits |
  /// | `{"$entries": [[key, value], …]}` | `TreeValue.entries(_:)` |
  /// | `{"$node": [identifier, type, fields]}` | `TreeValue.node(_:)` |
  /// | `{"$reference": [identifier, type]}` | `TreeValue.reference(identifier:typeName:)` |
  /// | `{"$required": value}` | `TreeValue.required(_:)` |
  /// | `{"$tagged": [tag, value]}` | `TreeValue.tagged(_:_:)` |
  ///
  /// A field name that begins with `$` is written with a second `$` before it.
  case lossless
}

/// An error in a JSON text, or JSON that cannot be represented exactly, with its position.
///
/// ```swift
/// do {
///   value = try TreeValue(json: text)
/// } catch {
///   print("line \(error.line), column \(error.column): \(error.reason)")
/// }
/// ```
public struct JSONError: Error, Hashable, Sendable {
  /// The line, from 1; lines end with LF, CR LF or CR.
  public var line: Int

  /// The column, from 1, in Unicode scalars.
  public var column: Int

  /// The text found and the text expected.
  public var reason: String

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - line: The line, from 1.
  ///   - column: The column, from 1, in Unicode scalars.
  ///   - reason: The text found and the text expected.
  public init(line: Int, column: Int, reason: String) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  /// Finds the line and column of a byte.
  init(reason: String, at position: Int, in bytes: Span<UInt8>) {
    var line = 1
    var column = 1
    for index in 0..<min(position, bytes.count) {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\n") {
        // The second half of CR LF; the line was counted at the first.
        if index == 0 || bytes[index - 1] != UInt8(ascii: "\r") { line += 1 }
        column = 1
      } else if byte == UInt8(ascii: "\r") {
        line += 1
        column = 1
      } else if byte & 0xc0 != 0x80 {
        column += 1
      }
    }
    self.init(line: line, column: column, reason: reason)
  }
}

extension JSONError: CustomStringConvertible {
  /// Line, column and reason in one line.
  public var description: String { "line \(line), column \(column): \(reason)" }
}

/// The objects that represent other values in ``JSONForm/lossless``.
enum JSONEscape {
  /// The reason that an object with the form of an escape is none.
  struct Failure: Error {
    let reason: String
  }

  /// The value of an object that has a name beginning with `$`.
  static func value(of fields: [String: TreeValue]) throws(Failure) -> TreeValue {
    if fields.count == 1, let (name, content) = fields.first, !isDoubled(name) {
      guard let value = value(of: content, named: name) else {
        throw Failure(reason: "the content of \"\(name)\" is invalid")
      }
      return value
    }
    var result: [String: TreeValue] = [:]
    for (name, value) in fields {
      guard name.utf8.first == UInt8(ascii: "$") else {
        result[name] = value
        continue
      }
      guard isDoubled(name) else {
        throw Failure(reason: "\"\(name)\" must be the only name in its object")
      }
      result[String(name.unicodeScalars.dropFirst())] = value
    }
    return .object(result)
  }

  /// Whether a name begins with two `$`; a combining mark may follow.
  private static func isDoubled(_ name: String) -> Bool {
    name.utf8.starts(with: "$$".utf8)
  }

  private static func value(of content: TreeValue, named name: String) -> TreeValue? {
    switch (name, content) {
    case ("$bytes", .string(let text)):
      return Data(base64Encoded: text).map { .bytes([UInt8]($0)) }
    case ("$double", .string(let text)):
      return UInt64(text, radix: 16).map { .double(Double(bitPattern: $0)) }
    case ("$entries", .array(let pairs)):
      return entries(pairs)
    case ("$node", .array(let parts)):
      guard parts.count == 3, case .string(let identifier) = parts[0],
        case .string(let typeName) = parts[1]
      else { return nil }
      return .node(TreeNode(identifier, type: typeName, fields: parts[2]))
    case ("$reference", .array(let parts)):
      guard parts.count == 2, case .string(let identifier) = parts[0],
        case .string(let typeName) = parts[1]
      else { return nil }
      return .reference(identifier: identifier, typeName: typeName)
    case ("$required", let value):
      return .required(value)
    case ("$tagged", .array(let parts)):
      guard parts.count == 2, let tag = tag(parts[0]) else { return nil }
      return .tagged(tag, parts[1])
    default:
      return nil
    }
  }

  private static func entries(_ pairs: [TreeValue]) -> TreeValue? {
    var entries = [TreeValue: TreeValue](minimumCapacity: pairs.count)
    for pair in pairs {
      guard case .array(let pair) = pair, pair.count == 2,
        entries.updateValue(pair[1], forKey: pair[0]) == nil
      else { return nil }
    }
    return .entries(entries)
  }

  private static func tag(_ value: TreeValue) -> UInt64? {
    switch value {
    case .integer(let value): UInt64(exactly: value)
    case .unsigned(let value): value
    default: nil
    }
  }
}
