import PandoConsistency
import PandoSystem

/// Allocates row numbers.
///
/// A number in use is not allocated again.
struct RowNumberSource: Sendable {
  private var next: LiveRow
  /// The first number that must not be allocated.
  private var end: LiveRow

  /// Creates a source.
  ///
  /// - Parameter first: The first number.
  init(startingAt first: LiveRow = 0) {
    next = first
    end = .firstStored
  }

  /// Allocates numbers.
  ///
  /// - Parameters:
  ///   - count: The count of numbers to allocate.
  ///   - inUse: Returns all numbers in use. Called only if the current range of free numbers is too
  ///     small.
  /// - Returns: The numbers.
  mutating func take(_ count: Int, inUse: () -> [LiveRow]) -> [LiveRow] {
    if count <= Int(end - next) {
      let first = next
      next += LiveRow(count)
      return Array(first..<next)
    }
    var largest: Range<LiveRow> = 0..<0
    var start: LiveRow = 0
    for row in inUse().ordered() + [.firstStored] where row >= start {
      if row - start > largest.upperBound - largest.lowerBound { largest = start..<row }
      start = row + 1
    }
    precondition(largest.count >= count, "no free numbers for \(count) rows")
    next = largest.lowerBound
    end = largest.upperBound
    return take(count, inUse: inUse)
  }
}
