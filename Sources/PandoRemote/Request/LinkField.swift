/// The header field `Link` (RFC 8288).
enum LinkField {
  /// Returns the target of the first link with the relation `next`; `nil` if there is none.
  static func next(in field: String) -> String? {
    var rest = Array(field.utf8)[...]
    while !rest.isEmpty {
      rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
      guard rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: UInt8(ascii: ">")) else {
        // This is no link; the text after the next comma may be one.
        rest = rest.drop { $0 != UInt8(ascii: ",") }
        continue
      }
      let target = rest[(rest.startIndex + 1)..<end]
      rest = rest[(end + 1)...]
      var relations: [String]?
      while let (name, value) = parameter(&rest) {
        // The first `rel` of a link counts.
        if name.lowercased() == "rel", relations == nil {
          relations = value.lowercased().split(separator: " ").map(String.init)
        }
      }
      if relations?.contains("next") == true, !target.isEmpty {
        return String(decoding: target, as: UTF8.self)
      }
    }
    return nil
  }

  /// Reads a parameter and the semicolon before it.
  private static func parameter(
    _ rest: inout ArraySlice<UInt8>
  ) -> (name: String, value: String)? {
    rest = rest.drop(while: isSpace)
    guard rest.first == UInt8(ascii: ";") else { return nil }
    rest = rest.dropFirst().drop(while: isSpace)
    let name = token(&rest)
    rest = rest.drop(while: isSpace)
    guard rest.first == UInt8(ascii: "=") else { return (name, "") }
    rest = rest.dropFirst().drop(while: isSpace)
    return (name, rest.first == UInt8(ascii: "\"") ? quoted(&rest) : token(&rest))
  }

  private static func token(_ rest: inout ArraySlice<UInt8>) -> String {
    let text = rest.prefix { !isSpace($0) && !"=;,".utf8.contains($0) }
    rest = rest[text.endIndex...]
    return String(decoding: text, as: UTF8.self)
  }

  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") {
        if let escaped = rest.popFirst() { bytes.append(escaped) }
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}
