import Foundation

extension BinaryInteger {
  /// The number with a space between groups of three digits.
  var grouped: String {
    var digits = String(self)
    var index = digits.count - 3
    while index > 0 {
      digits.insert(" ", at: digits.index(digits.startIndex, offsetBy: index))
      index -= 3
    }
    return digits
  }
}

extension Double {
  /// The nearest integer with a space between groups of three digits.
  var grouped: String { Int(rounded()).grouped }

  /// Two or three digits that count.
  var short: String {
    if abs(self) >= 100 { return grouped }
    return String(format: abs(self) >= 10 ? "%.1f" : "%.2f", self)
  }

  /// A number of bytes with a unit.
  var asSize: String {
    switch self {
    case ..<1_000: String(format: "%.0f B", self)
    case ..<1_000_000: String(format: "%.1f kB", self / 1e3)
    case ..<1_000_000_000: String(format: "%.1f MB", self / 1e6)
    default: String(format: "%.2f GB", self / 1e9)
    }
  }
}

extension UInt64 {
  /// A number of nanoseconds with a unit.
  var asTime: String {
    let value = Double(self)
    switch self {
    case ..<1_000: return "\(self) ns"
    case ..<1_000_000: return String(format: "%.1f µs", value / 1e3)
    case ..<1_000_000_000: return String(format: "%.1f ms", value / 1e6)
    default: return String(format: "%.2f s", value / 1e9)
    }
  }
}

extension HostDescription {
  /// Names and versions of the libraries and tools.
  var versionList: String {
    versions.sorted { $0.key < $1.key }
      .map { $0.value.hasPrefix($0.key) ? $0.value : "\($0.key) \($0.value)" }
      .joined(separator: ", ")
  }
}
