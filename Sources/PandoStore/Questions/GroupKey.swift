/// The key of a group by several fields: one value for each.
///
/// ```swift
/// let sums = try store.answer(.sum(\Order.total).grouped(by: \.day, \.region), to: .all)
/// let north = sums[GroupKey("2026-05-01", "north")]
/// for (key, sum) in sums { print(key.values.0, key.values.1, sum) }
/// ```
public struct GroupKey<each Value: Hashable & Sendable>: Hashable, Sendable {
  /// The values, in the order of the fields.
  public let values: (repeat each Value)

  /// Makes a key.
  ///
  /// - Parameter values: The values, in the order of the fields.
  public init(_ values: repeat each Value) { self.values = (repeat each values) }

  /// Whether all values are equal.
  ///
  /// - Parameters:
  ///   - left: A key.
  ///   - right: A key.
  /// - Returns: Whether they are.
  public static func == (left: GroupKey, right: GroupKey) -> Bool {
    for (one, other) in repeat (each left.values, each right.values) {
      guard one == other else { return false }
    }
    return true
  }

  /// Hashes all values.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    for value in repeat each values { hasher.combine(value) }
  }
}

extension GroupKey: CustomStringConvertible {
  /// The values, with commas between them.
  public var description: String {
    var texts: [String] = []
    for value in repeat each values { texts.append("\(value)") }
    return texts.joined(separator: ", ")
  }
}
