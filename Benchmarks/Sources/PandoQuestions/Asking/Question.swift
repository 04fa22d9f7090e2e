import Pando

/// A query of items, as data.
struct Selection: Sendable {
  struct Order: Sendable {
    let field: Int
    let isDescending: Bool
    let isFolded: Bool
  }

  var condition: Condition
  var order: [Order]
  var offset: Int
  var limit: Int?
  /// A field of which only the first item of each value counts; no text.
  var uniqueBy: Int?

  init(_ choices: inout Choices) {
    condition = Condition(&choices)
    order = (0..<choices.pick([0, 1, 1, 2, 3])).map { _ in
      let field = choices.below(ItemField.all.count)
      return Order(
        field: field, isDescending: choices.chance(50),
        isFolded: ItemField.all[field].isText && choices.chance(50))
    }
    offset = choices.chance(25) ? choices.below(6) : 0
    limit = choices.chance(40) ? choices.below(8) : nil
    if choices.chance(10) { uniqueBy = choices.pick(Self.uniqueFields) }
  }

  private static let uniqueFields = ItemField.all.indices.filter {
    ["rank", "level", "mark", "owner.score"].contains(ItemField.all[$0].name)
  }

  var query: Query<Item> {
    Query(
      filter: condition.filter,
      order: order.map { ItemField.all[$0.field].order($0.isDescending, $0.isFolded) },
      uniqueBy: uniqueBy.map { [ItemField.all[$0].field] } ?? [], offset: offset, limit: limit)
  }

  var orderKind: String {
    switch order.count {
    case 0: "natural"
    case 1: order[0].isFolded ? "folded" : order[0].isDescending ? "descending" : "ascending"
    default: "several orders"
    }
  }

  var windowKind: String {
    if uniqueBy != nil { return "unique" }
    return switch (offset > 0, limit != nil) {
    case (false, false): "whole"
    case (true, false): "offset"
    case (false, true): "limit"
    case (true, true): "offset and limit"
    }
  }
}

/// A number that can be added.
enum Number: String, CaseIterable, Sendable {
  case rank, level, price, rate, weight, score, partNumber, partPrice
}

/// A field of which there is a least value.
enum Ordered: String, CaseIterable, Sendable {
  case title, note, rank, level, price, weight, due, mark, ownerName, partNumber
}

enum Measure: Sendable {
  case count
  case exists
  case sum(Number)
  case average(Number)
  case min(Ordered)
  case max(Ordered)
  case percentile(Int, Ordered)
  case distinct(Ordered)
  /// Count, sum of ranks, least price.
  case several
}

enum Grouping: String, CaseIterable, Sendable {
  case none, mark, rank, level, title, ownerName, owner, tags, partKind, dueDay, madeDay
  case markAndLevel, tagAndMark, partKindAndMark
}

/// The form of the groups.
enum Form: Sendable {
  case dictionary
  case top(Int?)
  case bottom(Int?)
  case ascending(Int?)
  case descending(Int?)
}

/// A question, as data.
struct Asking: Sendable {
  var measure: Measure
  var grouping: Grouping
  var form: Form
  /// The number that the answer of a group must exceed.
  var having: Int?

  init(_ choices: inout Choices) {
    let number = choices.pick(Number.allCases)
    let ordered = choices.pick(Ordered.allCases)
    switch choices.below(9) {
    case 0: measure = .count
    case 1: measure = .exists
    case 2: measure = .sum(number)
    case 3: measure = .average(number)
    case 4: measure = .min(ordered)
    case 5: measure = .max(ordered)
    case 6: measure = .percentile(choices.pick([0, 10, 50, 90, 99, 100]), ordered)
    case 7: measure = .distinct(ordered)
    default: measure = .several
    }
    grouping = choices.chance(30) ? .none : choices.pick(Grouping.allCases)
    if case .several = measure { grouping = .none }
    let limit = choices.chance(70) ? choices.below(4) : nil
    switch choices.below(7) {
    case 0: form = .top(limit)
    case 1: form = .bottom(limit)
    case 2: form = .ascending(limit)
    case 3: form = .descending(limit)
    default: form = .dictionary
    }
    having = choices.chance(30) ? choices.below(4) : nil
    if grouping == .none { (form, having) = (.dictionary, nil) }
    if case .distinct = measure {
      having = nil
      switch form {
      case .top, .bottom: form = .ascending(limit)
      default: break
      }
    }
  }

  var measureKind: String {
    switch measure {
    case .count: "count"
    case .exists: "exists"
    case .sum: "sum"
    case .average: "average"
    case .min: "min"
    case .max: "max"
    case .percentile: "percentile"
    case .distinct: "distinct"
    case .several: "several"
    }
  }

  var formKind: String {
    if grouping == .none { return "ungrouped" }
    let form =
      switch form {
      case .dictionary: "groups"
      case .top: "top"
      case .bottom: "bottom"
      case .ascending: "ascending groups"
      case .descending: "descending groups"
      }
    return having == nil ? form : form + " having"
  }

  /// Whether it adds or orders doubles whose sums are rounded.
  var isOfDoubles: Bool {
    switch measure {
    case .sum(.weight), .average(.weight): true
    default: false
    }
  }
}
