import PandoSystem

/// Values in order, each with its number of occurrences.
struct CountedValues {
  private var values = ChunkedArray<(value: QueryValue, count: Int)>([])

  var first: QueryValue? { values.first?.value }
  var last: QueryValue? { values.last?.value }

  /// Adds occurrences of a value, or takes them away.
  ///
  /// - Complexity: O(log *n*) for *n* values.
  mutating func change(_ value: QueryValue, by difference: Int) {
    let place = values.partitioningIndex { !($0.value < value) }
    guard place != values.endIndex, values[place].value == value else {
      return values.insert((value, difference), at: place)
    }
    values[place].count += difference
    if values[place].count == 0 { _ = values.remove(at: place) }
  }

  /// All occurrences, in order.
  var all: [QueryValue] { values.flatMap { Array(repeating: $0.value, count: $0.count) } }
}

/// Values in order, divided at a rank.
///
/// ```
/// lower: the values up to the rank │ upper: the others
/// ```
struct RankedValues {
  private var lower = CountedValues()
  private var upper = CountedValues()
  private var lowerCount = 0
  /// How many values there are.
  private(set) var count = 0

  /// Adds a value, or takes away one that was added.
  mutating func change(_ value: QueryValue, isAdded: Bool) {
    let difference = isAdded ? 1 : -1
    count += difference
    if let last = lower.last, !(last < value) {
      lower.change(value, by: difference)
      lowerCount += difference
    } else {
      upper.change(value, by: difference)
    }
  }

  /// Moves values until the lower part has this many.
  mutating func moveBorder(toRank rank: Int) {
    while lowerCount < rank, let value = upper.first {
      upper.change(value, by: -1)
      lower.change(value, by: 1)
      lowerCount += 1
    }
    while lowerCount > rank, let value = lower.last {
      lower.change(value, by: -1)
      upper.change(value, by: 1)
      lowerCount -= 1
    }
  }

  /// The value at the rank; `nil` if there is none.
  var atBorder: QueryValue? { lower.last }

  /// All values, in order.
  var all: [QueryValue] { lower.all + upper.all }
}
