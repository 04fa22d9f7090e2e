import Foundation
import Pando

/// An answer of any shape, in the form in which the sides are compared: texts by their bytes, groups of a dictionary
/// in the order of their keys.
indirect enum Compared: Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case decimal(Decimal)
  case double(Double)
  case text(String)
  case date(Date)
  case list([Compared])
}

extension Compared: Comparable {
  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int, .decimal, .double, .date: 2
    case .text: 3
    case .list: 4
    }
  }

  static func == (left: Compared, right: Compared) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.decimal(let left), .decimal(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.date(let left), .date(let right)): left == right
    case (.list(let left), .list(let right)): left == right
    default: false
    }
  }

  /// Null first, texts by their bytes.
  static func < (left: Compared, right: Compared) -> Bool {
    switch (left, right) {
    case (.bool(let left), .bool(let right)): !left && right
    case (.int(let left), .int(let right)): left < right
    case (.decimal(let left), .decimal(let right)): left < right
    case (.double(let left), .double(let right)): left < right
    case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.date(let left), .date(let right)): left < right
    case (.list(let left), .list(let right)): left.lexicographicallyPrecedes(right)
    default: left.rank < right.rank
    }
  }
}

extension Compared: CustomStringConvertible {
  var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .double(let value): "\(value)"
    case .text(let value): "“\(value)”"
    case .date(let value): "date \(value.timeIntervalSinceReferenceDate)"
    case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    }
  }
}

extension Compared {
  /// A number for comparisons of sums in floating point.
  var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
    case .double(let value): value
    default: nil
    }
  }

  /// Whether values are equal, doubles within a distance.
  func isNear(_ other: Compared, _ distance: Double) -> Bool {
    switch (self, other) {
    case (.double(let one), .double(let other)): one == other || abs(one - other) <= distance
    case (.list(let ones), .list(let others)):
      ones.count == others.count && zip(ones, others).allSatisfy { $0.isNear($1, distance) }
    default: self == other
    }
  }
}

/// A type of answers that becomes a ``Compared``.
protocol Comparing: Equatable {
  var compared: Compared { get }
}

extension Bool: Comparing { var compared: Compared { .bool(self) } }
extension Int: Comparing { var compared: Compared { .int(self) } }
extension Decimal: Comparing { var compared: Compared { .decimal(self) } }
extension Double: Comparing { var compared: Compared { .double(self) } }
extension String: Comparing { var compared: Compared { .text(self) } }
extension Date: Comparing { var compared: Compared { .date(self) } }
extension Mark: Comparing { var compared: Compared { .text(rawValue) } }
extension Key: Comparing { var compared: Compared { .text(rawValue) } }
extension Optional: Comparing where Wrapped: Comparing {
  var compared: Compared { if let self { self.compared } else { .null } }
}
extension Array: Comparing where Element: Comparing {
  var compared: Compared { .list(map { $0.compared }) }
}
extension AnswerGroup: Comparing where Key: Comparing, Value: Comparing {
  var compared: Compared { .list([key.compared, value.compared]) }
}
extension GroupKey: Comparing where repeat each Value: Comparing {
  var compared: Compared {
    var parts: [Compared] = []
    for part in repeat each values { parts.append(part.compared) }
    return .list(parts)
  }
}
extension Dictionary: Comparing where Key: Comparing, Value: Comparing {
  var compared: Compared {
    .list(map { .list([$0.key.compared, $0.value.compared]) }.sorted())
  }
}
