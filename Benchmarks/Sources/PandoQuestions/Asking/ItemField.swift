import Foundation
import Pando

/// A single value of an item, as each side reads it.
struct ItemField: Sendable {
  let name: String
  /// The column of the value in SQLite; a text also has one with `_folded` and, of a title, `_composed`.
  let column: String
  /// Values for filters.
  let values: [Compared]
  let isText: Bool
  let field: QueryField<Item>
  let read: @Sendable (Item) -> Compared
  let compare: @Sendable (FilterComparison, Compared) -> Filter<Item>
  let isIn: @Sendable ([Compared]) -> Filter<Item>
  let prefix: @Sendable (String) -> Filter<Item>
  let part: @Sendable (String, Bool) -> Filter<Item>
  let order: @Sendable (_ isDescending: Bool, _ isFolded: Bool) -> QueryOrder<Item>

  private init<Value: QueryRepresentable & Comparing & Sendable>(
    _ name: String, _ column: String, _ keyPath: any KeyPath<Item, Value> & Sendable,
    isText: Bool = false, _ samples: [Value]
  ) {
    self.name = name
    self.column = column
    self.isText = isText
    values = samples.map(\.compared)
    let value: @Sendable (Compared) -> Value = { compared in
      guard let sample = samples.first(where: { $0.compared == compared }) else {
        preconditionFailure("\(compared) is no value of \(name)")
      }
      return sample
    }
    field = QueryField(keyPath)
    read = { $0[keyPath: keyPath].compared }
    compare = { .compare(QueryField(keyPath), $0, value($1)) }
    isIn = { .isIn(keyPath, $0.map(value)) }
    prefix = { .hasPrefix(keyPath, $0) }
    part = { .contains(keyPath, $0, $1 ? [.caseInsensitive, .diacriticInsensitive] : []) }
    order = { isDescending, isFolded in
      switch (isDescending, isFolded) {
      case (false, false): .ascending(keyPath)
      case (true, false): .descending(keyPath)
      case (false, true): .ascending(.folded(keyPath))
      case (true, true): .descending(.folded(keyPath))
      }
    }
  }

  static let all: [ItemField] = [
    ItemField("title", "i.title", \.title, isText: true, Texts.titles),
    ItemField("note", "i.note", \.note, isText: true, Texts.titles + [nil]),
    ItemField("rank", "i.rank", \.rank, Array(0..<6)),
    ItemField("level", "i.level", \.level, [nil, 0, 1, 2, -1]),
    ItemField("price", "i.price", \.price, Draft.prices),
    ItemField("rate", "i.rate", \.rate, Draft.prices + [nil]),
    ItemField("weight", "i.weight", \.weight, Draft.weights),
    ItemField("due", "i.due", \.due, Draft.dates + [nil]),
    ItemField("mark", "i.mark", \.mark, Mark.allCases),
    ItemField("isOpen", "i.open", \.isOpen, [false, true]),
    ItemField("owner.name", "p.name", \.owner?.name, isText: true, Texts.names + [nil]),
    ItemField("owner.score", "p.score", \.owner?.score, [nil, 0, 1, 2]),
    ItemField("id", "i.id", \.id, Array(0..<40)),
  ]
}
