/// How JSON for people tells data that looks like a reference from a reference.
///
/// A reference is `{"$reference": [identifier, type]}`. Data that looks like one, or like data that was
/// marked so, has one more `$` in front of its name: `{"$$reference": ["a", "b"]}` is the object whose
/// field `$reference` has two texts. All other data is written as it stands.
package enum ReferenceEscape {
  /// The fields that an object stands for: one `$` fewer where it is data that was marked.
  package static func unescaped(_ fields: [String: TreeValue]) -> [String: TreeValue] {
    guard let (name, value) = onlyField(of: fields), name.utf8.starts(with: "$$".utf8) else {
      return fields
    }
    return [String(name.unicodeScalars.dropFirst()): value]
  }

  /// Whether an object is written with one more `$`.
  static func isNeeded(for fields: [String: TreeValue]) -> Bool { onlyField(of: fields) != nil }

  /// The name and the value of an object that is a reference but for the number of `$`.
  private static func onlyField(
    of fields: [String: TreeValue]
  ) -> (name: String, value: TreeValue)? {
    guard fields.count == 1, let (name, value) = fields.first,
      case .array(let parts) = value, parts.count == 2, parts.allSatisfy(isWrittenAsText)
    else { return nil }
    let word = "$reference".utf8
    guard name.utf8.count >= word.count, name.utf8.suffix(word.count).elementsEqual(word),
      name.utf8.dropLast(word.count).allSatisfy({ $0 == UInt8(ascii: "$") })
    else { return nil }
    return (name, value)
  }

  private static func isWrittenAsText(_ value: TreeValue) -> Bool {
    switch value {
    case .string, .bytes: true
    case .double(let value): !value.isFinite
    case .tagged(let tag, let value): JSONWriter.text(of: value, tag: tag) != nil
    default: false
    }
  }
}

extension TreeValue {
  /// Returns the value as JSON for people and programs that give it back to `pando set`.
  ///
  /// It is ``JSONForm/plain``, and ``ReferenceEscape`` marks data that looks like a reference.
  ///
  /// - Parameter isPretty: Whether to write one element or field a line, indented by two spaces.
  /// - Returns: The text, without a line break at the end.
  package func editableJSON(isPretty: Bool = false) -> String {
    var writer = JSONWriter(form: .plain, isPretty: isPretty, escapesReferences: true)
    writer.write(self)
    return String(decoding: writer.output, as: UTF8.self)
  }
}
