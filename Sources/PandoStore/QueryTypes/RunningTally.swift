import PandoSystem

/// The tally for a question while entities are added and removed.
///
/// ```
/// groups ─► a tally for each value of the outermost group ─► … ─► count, sum, or values with their numbers
/// ```
/// - Complexity: O(1) to add or remove an entity; O(log *n*) among *n* values for the lowest or the highest value.
package struct RunningTally: Sendable {
  /// The fields are positions in a part of ``AnswerParts``.
  private let measure: Measure<Int>
  private var root: Level

  init(_ measure: Measure<some Sendable>) {
    var fields = 0..<measure.fields.count
    var numbered = measure.map { _ in 0 }
    numbered.groups = measure.groups.map { _ in fields.popFirst() ?? 0 }
    let last = fields.first ?? 0
    numbered.kind = Measure(measure.kind).map { _ in last }.kind
    self.measure = numbered
    root = Level(numbered, 0)
  }

  /// Counts an entity.
  package mutating func add(_ part: [QueryValue]) { root.change(part, measure, 0, isAdded: true) }

  /// Removes an entity that was counted with this part.
  package mutating func remove(_ part: [QueryValue]) {
    root.change(part, measure, 0, isAdded: false)
  }

  /// The tally of the present entities.
  ///
  /// - Complexity: O(*g*) for *g* groups.
  package var tally: Tally { root.tally(measure) }
}

/// The entities of a group, or all.
private struct Level: Sendable {
  private enum Content {
    case count
    case sum(NumberSum)
    case values(CountedValues)
    case groups([QueryValue: Level])
  }

  private(set) var count = 0
  private var content: Content

  init(_ measure: Measure<Int>, _ depth: Int) {
    if depth < measure.groups.count {
      content = .groups([:])
      return
    }
    switch measure.kind {
    case .count, .exists: content = .count
    case .sum: content = .sum(NumberSum())
    case .minimum, .maximum: content = .values(CountedValues())
    }
  }

  mutating func change(
    _ part: [QueryValue], _ measure: Measure<Int>, _ depth: Int, isAdded: Bool
  ) {
    count += isAdded ? 1 : -1
    // The exchange leaves one owner of the contents, so the code below changes them in place.
    switch exchange(&content, with: .count) {
    case .count: break
    case .sum(var sum):
      let value = measure.field.map { part[$0] } ?? .null
      if isAdded { sum.add(value) } else { sum.remove(value) }
      content = .sum(sum)
    case .values(var values):
      let value = measure.field.map { part[$0] } ?? .null
      if value.isValue { values.change(value, by: isAdded ? 1 : -1) }
      content = .values(values)
    case .groups(var groups):
      let key = part[measure.groups[depth]]
      groups[key, default: Level(measure, depth + 1)]
        .change(part, measure, depth + 1, isAdded: isAdded)
      if groups[key]?.count == 0 { groups[key] = nil }
      content = .groups(groups)
    }
  }

  func tally(_ measure: Measure<Int>) -> Tally {
    switch content {
    case .count: .count(count)
    case .sum(let sum): .sum(sum)
    case .values(let values):
      if case .maximum = measure.kind {
        .extreme(values.last, isMaximum: true)
      } else {
        .extreme(values.first, isMaximum: false)
      }
    case .groups(let groups): .groups(groups.mapValues { $0.tally(measure) })
    }
  }
}

/// Values in order, each with its number of entities.
private struct CountedValues: Sendable {
  private var values = ChunkedArray<(value: QueryValue, count: Int)>([])

  var first: QueryValue? { values.first?.value }
  var last: QueryValue? { values.last?.value }

  mutating func change(_ value: QueryValue, by difference: Int) {
    let place = values.partitioningIndex { !($0.value < value) }
    guard place != values.endIndex, values[place].value == value else {
      return values.insert((value, difference), at: place)
    }
    values[place].count += difference
    if values[place].count == 0 { _ = values.remove(at: place) }
  }
}
