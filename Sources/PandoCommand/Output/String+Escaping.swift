extension String {
  /// The text with control characters written as escapes, so that it stays on one line and
  /// cannot steer a terminal.
  var escapingControlCharacters: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case _ where scalar.isControl:
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u{" + digits + "}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension Unicode.Scalar {
  /// Whether the scalar moves the cursor, ends a line or has no visible form (C0, DEL, C1, line
  /// and paragraph separators).
  fileprivate var isControl: Bool {
    value < 0x20 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029
  }
}
