/// The number of measured values in each of several ranges.
///
/// ```swift
/// var seconds = Histogram(bounds: [0.001, 0.01, 0.1, 1])
/// seconds.record(0.004)
/// print(seconds.count, seconds.quantile(0.99) ?? 0)  // 1 0.01
/// ```
///
/// A value; threads that share one guard it with a lock.
public struct Histogram: Sendable, Hashable {
  /// The upper bounds of the ranges, in order; a last range without bound follows.
  public let bounds: [Double]
  /// The number of values in each range: one more than there are bounds.
  public private(set) var counts: [Int]
  /// The sum of all values.
  public private(set) var sum = 0.0

  /// Makes a histogram without values.
  ///
  /// - Parameter bounds: The upper bounds of the ranges.
  /// - Precondition: The bounds increase.
  public init(bounds: [Double]) {
    precondition(
      zip(bounds, bounds.dropFirst()).allSatisfy(<), "bounds that do not increase: \(bounds)")
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// The number of values.
  public var count: Int { counts.reduce(0, +) }

  /// Adds a value.
  ///
  /// - Parameter value: The value, in the unit of the bounds.
  /// - Complexity: O(*n*) for *n* ranges.
  public mutating func record(_ value: Double) {
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
    sum += value
  }

  /// Returns the upper bound of the range that completes a share of the values.
  ///
  /// - Parameter share: From 0 to 1; 0.5 is the median.
  /// - Returns: The upper bound of the range, infinity in the last one; `nil` without values.
  public func quantile(_ share: Double) -> Double? {
    let wanted = (share * Double(count)).rounded(.up)
    var seen = 0
    for (index, count) in counts.enumerated() where count > 0 {
      seen += count
      if Double(seen) >= wanted { return index < bounds.count ? bounds[index] : .infinity }
    }
    return nil
  }
}

extension Histogram {
  /// Ranges for times in seconds: from 50 µs, each bound about twice the one before, to 13 s.
  public static var seconds: Histogram {
    Histogram(bounds: [
      0.000_05, 0.000_1, 0.000_2, 0.000_4, 0.000_8, 0.001_6, 0.003_2, 0.006_4, 0.012_8, 0.025_6,
      0.051_2, 0.102_4, 0.204_8, 0.409_6, 0.819_2, 1.6384, 3.2768, 6.5536, 13.1072,
    ])
  }

  /// Ranges for counts: powers of two up to 1 024.
  public static var counts: Histogram { Histogram(bounds: (0...10).map { Double(1 << $0) }) }
}
