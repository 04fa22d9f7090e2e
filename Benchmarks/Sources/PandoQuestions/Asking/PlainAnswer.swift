import Foundation
import Pando

/// Answers over an array of items, in the simplest form.
struct PlainAnswer {
  /// A mistake on purpose.
  let mistake: Mistake?

  init(_ mistake: Mistake? = nil) { self.mistake = mistake }

  // MARK: Queries

  /// The items of a query, of all items in natural order.
  func items(_ selection: Selection, _ all: [Item]) -> [Item] {
    var found = all.filter { selection.condition.matches($0, mistake) }
    if let field = selection.uniqueBy, mistake != .uniqueness {
      var seen: Set<String> = []
      found = found.filter { seen.insert(ItemField.all[field].read($0).groupName).inserted }
    }
    if !selection.order.isEmpty || mistake == .naturalOrder { sort(&found, by: selection) }
    var offset = selection.offset
    var limit = selection.limit
    if mistake == .offset, offset > 0 { offset -= 1 }
    if mistake == .limit, let given = limit { limit = given + 1 }
    let rest = found.dropFirst(offset)
    return Array(limit.map { rest.prefix($0) } ?? rest)
  }

  private func sort(_ items: inout [Item], by selection: Selection) {
    let order =
      mistake == .secondOrder ? Array(selection.order.prefix(1)) : selection.order
    let rows = items.enumerated().map { place, item in
      (keys: order.map { orderKey($0, item) }, place: place)
    }
    let sorted = rows.sorted { one, other in
      for (index, order) in order.enumerated() where one.keys[index] != other.keys[index] {
        return (one.keys[index] < other.keys[index]) != order.isDescending
      }
      return (one.place < other.place) != (mistake == .orderOfTies || mistake == .naturalOrder)
    }
    items = sorted.map { items[$0.place] }
  }

  private func orderKey(_ order: Selection.Order, _ item: Item) -> Compared {
    let value = ItemField.all[order.field].read(item)
    if order.isFolded, mistake != .foldedByBytes, case .text(let text) = value {
      return .text(Texts.folded(text))
    }
    if mistake == .nullIsLast, value == .null { return .list([]) }
    return value
  }

  /// The keys of the people in an item.
  func people(heldBy id: Int, _ all: [Item]) -> [String] {
    guard let item = all.first(where: { $0.id == id }) else { return [] }
    let helpers = mistake == .heldByLists ? [] : item.helpers
    return Set((helpers + [item.owner].compactMap(\.self)).map(\.id)).sorted()
      .map { "Person:\($0)" }
  }

  // MARK: Questions

  /// The items, or parts of them, of one group.
  private struct Members {
    var key: [Compared]
    var values: [Compared] = []
    /// The values of the other questions.
    var items: [Item] = []
  }

  func answer(_ asking: Asking, _ items: [Item]) -> Compared {
    if asking.grouping == .none {
      let values = items.flatMap { self.values(asking.measure, $0, kind: nil) }
      return measured(asking.measure, Members(key: [], values: values, items: items))
    }
    var groups = groups(asking, items).map { group in
      (key: group.key, value: measured(asking.measure, group))
    }
    if let having = asking.having, mistake != .having {
      groups = groups.filter { $0.value.exceeds(having) }
    }
    let ordered = ordered(groups, asking.form)
    return .list(
      ordered.map { .list([$0.key.count == 1 ? $0.key[0] : .list($0.key), $0.value]) })
  }

  private typealias Group = (key: [Compared], value: Compared)

  private func ordered(_ groups: [Group], _ form: Form) -> [Group] {
    func isKeyLess(_ one: Group, _ other: Group) -> Bool {
      one.key.lexicographicallyPrecedes(other.key)
    }
    func first(_ limit: Int?, _ groups: [Group]) -> [Group] {
      limit.map { Array(groups.prefix($0)) } ?? groups
    }
    func isTieLess(_ one: Group, _ other: Group) -> Bool {
      mistake == .orderOfEqualGroups ? isKeyLess(other, one) : isKeyLess(one, other)
    }
    switch form {
    case .dictionary: return groups.sorted(by: isKeyLess)
    case .ascending(let limit): return first(limit, groups.sorted(by: isKeyLess))
    case .descending(let limit):
      return first(limit, groups.sorted { isKeyLess($1, $0) })
    case .top(let limit):
      return first(
        limit,
        groups.sorted { $0.value == $1.value ? isTieLess($0, $1) : $0.value > $1.value })
    case .bottom(let limit):
      return first(
        limit,
        groups.sorted { $0.value == $1.value ? isTieLess($0, $1) : $0.value < $1.value })
    }
  }

  private func groups(_ asking: Asking, _ items: [Item]) -> [Members] {
    var groups: [[String]: Members] = [:]
    for item in items {
      var seen: Set<[String]> = []
      for entry in keys(asking.grouping, item) {
        let name = entry.key.map(\.groupName)
        var group = groups[name] ?? Members(key: entry.key)
        if entry.key.lexicographicallyPrecedes(group.key) { group.key = entry.key }
        if seen.insert(name).inserted {
          group.items.append(item)
          group.values += values(asking.measure, item, kind: entry.kind)
        }
        groups[name] = group
      }
    }
    return Array(groups.values)
  }

  /// The keys of the groups of an item, and the kind of parts if the group has only these parts of an item.
  private func keys(
    _ grouping: Grouping, _ item: Item
  ) -> [(key: [Compared], kind: String?)] {
    func one(_ value: Compared) -> [(key: [Compared], kind: String?)] { [([value], nil)] }
    switch grouping {
    case .none: return []
    case .mark: return one(item.mark.compared)
    case .rank: return one(item.rank.compared)
    case .level: return one(mistake == .nullIsZero ? .int(item.level ?? 0) : item.level.compared)
    case .title: return one(item.title.compared)
    case .ownerName: return one((item.owner?.name).compared)
    case .owner: return one(item.owner.map { .text("Person:\($0.id)") } ?? .null)
    case .dueDay: return one(item.due.map(Self.day) ?? .null)
    case .madeDay: return one(Self.day(item.made))
    case .markAndLevel: return [([item.mark.compared, item.level.compared], nil)]
    case .tags: return item.tags.map { ([.text($0)], nil) }
    case .tagAndMark: return item.tags.map { ([.text($0), item.mark.compared], nil) }
    case .partKind: return item.parts.map { ([.text($0.kind)], $0.kind) }
    case .partKindAndMark:
      return item.parts.map { ([.text($0.kind), item.mark.compared], $0.kind) }
    }
  }

  private static func day(_ date: Date) -> Compared {
    let seconds = date.timeIntervalSinceReferenceDate
    return .date(Date(timeIntervalSinceReferenceDate: (seconds / 86_400).rounded(.down) * 86_400))
  }

  private func values(_ measure: Measure, _ item: Item, kind: String?) -> [Compared] {
    let parts = item.parts.filter { kind == nil || $0.kind == kind || mistake == .partsOfOthers }
    switch measure {
    case .count, .exists, .several: return []
    case .sum(let number), .average(let number):
      switch number {
      case .rank: return [item.rank.compared]
      case .level: return [item.level.compared]
      case .price: return [item.price.compared]
      case .rate: return [item.rate.compared]
      case .weight: return [item.weight.compared]
      case .score: return [(item.owner?.score).compared]
      case .partNumber: return parts.map(\.number.compared)
      case .partPrice: return parts.map(\.price.compared)
      }
    case .min(let field), .max(let field), .percentile(_, let field), .distinct(let field):
      switch field {
      case .title: return [item.title.compared]
      case .note: return [item.note.compared]
      case .rank: return [item.rank.compared]
      case .level: return [item.level.compared]
      case .price: return [item.price.compared]
      case .weight: return [item.weight.compared]
      case .due: return [item.due.compared]
      case .mark: return [item.mark.compared]
      case .ownerName: return [(item.owner?.name).compared]
      case .partNumber: return parts.map(\.number.compared)
      }
    }
  }

  private func measured(_ measure: Measure, _ group: Members) -> Compared {
    let present = group.values.filter { $0 != .null }
    switch measure {
    case .count: return .int(group.items.count)
    case .exists: return .bool(mistake == .exists || !group.items.isEmpty)
    case .sum(let number):
      return mistake == .equalValuesOnce
        ? sum(number, Array(unique(present.sorted()))) : sum(number, present)
    case .average(let number):
      let count = mistake == .averageOfNull ? group.values.count : present.count
      return average(number, sum(number, present), count)
    case .min: return present.min() ?? .null
    case .max: return present.max() ?? .null
    case .percentile(let percentile, _):
      if present.isEmpty { return .null }
      let sorted = present.sorted()
      let rank = (percentile * sorted.count + (mistake == .rank ? 0 : 99)) / 100
      return sorted[max(1, rank) - 1]
    case .distinct: return .list(unique(group.values.sorted()))
    case .several:
      let ranks = group.items.map(\.rank).reduce(0, +)
      let prices = group.items.map(\.price).min()
      return .list([.int(group.items.count), .int(ranks), prices.compared])
    }
  }

  /// Values without those that Swift takes as equal to one before.
  private func unique(_ sorted: [Compared]) -> [Compared] {
    if mistake == .distinct { return sorted }
    var seen: Set<String> = []
    return sorted.filter { seen.insert($0.groupName).inserted }
  }

  private func sum(_ number: Number, _ values: [Compared]) -> Compared {
    switch number {
    case .rank, .level, .score, .partNumber:
      return .int(
        values.reduce(0) { sum, value in
          if case .int(let value) = value { sum + value } else { sum }
        })
    case .price, .rate, .partPrice:
      return .decimal(
        values.reduce(Decimal(0)) { sum, value in
          if case .decimal(let value) = value { sum + value } else { sum }
        })
    case .weight:
      let numbers = values.compactMap(\.number)
      return .double(mistake == .roundedSum ? numbers.reduce(0, +) : ExactSum.of(numbers))
    }
  }

  private func average(_ number: Number, _ sum: Compared, _ count: Int) -> Compared {
    if count == 0 { return .null }
    switch sum {
    case .int(let sum): return .double(Double(sum) / Double(count))
    case .decimal(let sum): return .decimal(sum / Decimal(count))
    case .double(let sum): return .double(sum / Double(count))
    default: return .null
    }
  }
}

extension Compared {
  /// A text that is equal for values that Swift takes as equal.
  fileprivate var groupName: String {
    switch self {
    case .text(let text): "t" + Texts.composed(text)
    case .double(let value): "\(value == 0 ? 0 : value)"
    default: description
    }
  }

  /// Whether Swift takes values as equal; a follower may leave out a change of their bytes.
  ///
  /// - Parameters:
  ///   - other: The other value.
  ///   - isDictionary: Whether they are groups without an order.
  /// - Returns: Whether they are equal.
  func isSwiftEqual(_ other: Compared, isDictionary: Bool) -> Bool {
    let (one, other) = (composed, other.composed)
    guard isDictionary, case .list(let ones) = one, case .list(let others) = other else {
      return one == other
    }
    return ones.sorted() == others.sorted()
  }

  /// The value with composed texts.
  private var composed: Compared {
    switch self {
    case .text(let text): .text(Texts.composed(text))
    case .list(let values): .list(values.map(\.composed))
    default: self
    }
  }
}

/// The exact sum of doubles, rounded once (Shewchuk 1997, as `math.fsum` of Python does).
enum ExactSum {
  static func of(_ values: [Double]) -> Double {
    if values.contains(where: \.isInfinite) { return values.reduce(0, +) }
    var partials: [Double] = []
    for value in values {
      var value = value
      var kept: [Double] = []
      for partial in partials {
        var partial = partial
        if abs(value) < abs(partial) { swap(&value, &partial) }
        let high = value + partial
        let low = partial - (high - value)
        if low != 0 { kept.append(low) }
        value = high
      }
      partials = kept + [value]
    }
    guard var high = partials.popLast() else { return 0 }
    var low = 0.0
    while low == 0, let next = partials.popLast() {
      let sum = high + next
      low = next - (sum - high)
      high = sum
    }
    // Half-way cases round to even by the sign of what remains.
    if let rest = partials.last, low != 0, (low < 0) == (rest < 0), rest != 0 {
      let doubled = low * 2
      let sum = high + doubled
      if sum - high == doubled { high = sum }
    }
    return high
  }
}
