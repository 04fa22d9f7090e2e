import PandoConsistency
import PandoSystem

/// Gives numbers to rows; a number is not given again while a row may have it.
struct RowNumberSource: Sendable {
  private var next: LiveRow
  /// The first number that may be taken.
  private var end: LiveRow

  /// Begins to count.
  ///
  /// - Parameter first: The first number.
  init(startingAt first: LiveRow = 0) {
    next = first
    end = .max
  }

  /// Takes numbers.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - inUse: All numbers that are in use; asked for when the numbers have come to an end, once in
  ///     four thousand million.
  /// - Returns: The numbers.
  mutating func take(_ count: Int, inUse: () -> [LiveRow]) -> [LiveRow] {
    if count <= Int(end - next) {
      let first = next
      next += LiveRow(count)
      return Array(first..<next)
    }
    var largest: Range<LiveRow> = 0..<0
    var start: LiveRow = 0
    for row in inUse().ordered() + [.max] where row >= start {
      if row - start > largest.upperBound - largest.lowerBound { largest = start..<row }
      start = row == .max ? row : row + 1
    }
    precondition(largest.count >= count, "\(count) rows and no numbers left for them")
    next = largest.lowerBound
    end = largest.upperBound
    return take(count, inUse: inUse)
  }
}
