/// Counts entities by their parts: the values of the fields of a ``NumberedMeasure``.
///
/// - Note: One thread at a time.
protocol TallyNode: AnyObject {
  /// Counts an entity, or takes away one that was counted with this part.
  ///
  /// A node that is not running only adds.
  func change(_ part: [QueryValue], isAdded: Bool)

  /// The tally of the present entities.
  ///
  /// - Parameter isWhole: Whether the tally has to have all groups and values, to be added to another one.
  /// - Returns: The tally.
  func tally(isWhole: Bool) -> Tally
}

/// Makes nodes for a measure.
struct TallyNodes {
  /// For each field with a value per element, the number of its list.
  let lists: [Int?]
  /// Whether entities can be removed again.
  let isRunning: Bool

  func make(_ measure: Measure<Int>) -> any TallyNode {
    switch measure {
    case .count, .exists: CountNode()
    case .sum(let field, _): SumNode(field)
    case .minimum(let field): extreme(field, isMaximum: false)
    case .maximum(let field): extreme(field, isMaximum: true)
    case .percentile(let percentile, let field):
      isRunning ? RunningRankNode(field, percentile) : ValuesNode(field)
    case .groups(let grouping, let measure): GroupsNode(grouping, measure, self)
    case .combined(let measures): CombinedNode(measures.map(make))
    }
  }

  private func extreme(_ field: Int, isMaximum: Bool) -> any TallyNode {
    isRunning
      ? RunningExtremeNode(field, isMaximum: isMaximum) : ExtremeNode(field, isMaximum: isMaximum)
  }
}

private final class CountNode: TallyNode {
  private var count = 0

  func change(_ part: [QueryValue], isAdded: Bool) { count += isAdded ? 1 : -1 }

  func tally(isWhole: Bool) -> Tally { .count(count) }
}

private final class SumNode: TallyNode {
  private let field: Int
  private var sum = NumberSum()

  init(_ field: Int) { self.field = field }

  func change(_ part: [QueryValue], isAdded: Bool) {
    part[field].forEachElement { if isAdded { sum.add($0) } else { sum.remove($0) } }
  }

  func tally(isWhole: Bool) -> Tally { .sum(sum) }
}

/// The lowest or the highest value while entities are only added.
private final class ExtremeNode: TallyNode {
  private let field: Int
  private let isMaximum: Bool
  private var best: QueryValue?

  init(_ field: Int, isMaximum: Bool) {
    self.field = field
    self.isMaximum = isMaximum
  }

  func change(_ part: [QueryValue], isAdded: Bool) {
    part[field].forEachElement { value in
      guard value.isValue else { return }
      if best.map({ isMaximum ? $0 < value : value < $0 }) ?? true { best = value }
    }
  }

  func tally(isWhole: Bool) -> Tally { .extreme(best, isMaximum: isMaximum) }
}

/// The lowest or the highest value while entities are added and removed.
private final class RunningExtremeNode: TallyNode {
  private let field: Int
  private let isMaximum: Bool
  private var values = CountedValues()

  init(_ field: Int, isMaximum: Bool) {
    self.field = field
    self.isMaximum = isMaximum
  }

  func change(_ part: [QueryValue], isAdded: Bool) {
    part[field].forEachElement { value in
      if value.isValue { values.change(value, by: isAdded ? 1 : -1) }
    }
  }

  func tally(isWhole: Bool) -> Tally {
    .extreme(isMaximum ? values.last : values.first, isMaximum: isMaximum)
  }
}

/// Values among which one is found by its rank, while entities are only added.
private final class ValuesNode: TallyNode {
  private let field: Int
  private var values: [QueryValue] = []

  init(_ field: Int) { self.field = field }

  func change(_ part: [QueryValue], isAdded: Bool) {
    part[field].forEachElement { if $0.isValue { values.append($0) } }
  }

  func tally(isWhole: Bool) -> Tally { .values(values) }
}

/// The value at a rank while entities are added and removed.
private final class RunningRankNode: TallyNode {
  private let field: Int
  private let percentile: Double
  private var values = RankedValues()

  init(_ field: Int, _ percentile: Double) {
    self.field = field
    self.percentile = percentile
  }

  func change(_ part: [QueryValue], isAdded: Bool) {
    part[field].forEachElement { value in
      guard value.isValue else { return }
      values.change(value, isAdded: isAdded)
      values.moveBorder(toRank: Tally.rank(percentile, of: values.count))
    }
  }

  func tally(isWhole: Bool) -> Tally {
    .values(isWhole ? values.all : values.atBorder.map { [$0] } ?? [])
  }
}

private final class CombinedNode: TallyNode {
  private let nodes: [any TallyNode]

  init(_ nodes: [any TallyNode]) { self.nodes = nodes }

  func change(_ part: [QueryValue], isAdded: Bool) {
    for node in nodes { node.change(part, isAdded: isAdded) }
  }

  func tally(isWhole: Bool) -> Tally { .combined(nodes.map { $0.tally(isWhole: isWhole) }) }
}

extension QueryValue {
  /// Passes each element of a list, or the value itself.
  @inline(__always)
  func forEachElement(_ body: (QueryValue) -> Void) {
    guard case .elements(let values) = self else { return body(self) }
    for value in values { body(value) }
  }
}
