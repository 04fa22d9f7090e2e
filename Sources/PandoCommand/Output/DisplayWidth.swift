extension String {
  /// The number of columns that a terminal shows: two for wide characters and emoji.
  var displayWidth: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { $0 + $1.displayWidth }
  }
}

extension Character {
  fileprivate var displayWidth: Int {
    var width = 0
    for scalar in unicodeScalars {
      // The variation selector of emoji, and the second sign of a flag, make a sign wide.
      if scalar.value == 0xFE0F || scalar.properties.isEmojiPresentation || scalar.isWide {
        return 2
      }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format, .control: continue
      default: width = 1
      }
    }
    return width
  }
}

extension Unicode.Scalar {
  /// The blocks whose characters are wide or full width (Unicode Standard Annex 11).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
    0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD,
  ]

  fileprivate var isWide: Bool {
    value >= 0x1100 && Self.wide.contains { $0.contains(value) }
  }
}
