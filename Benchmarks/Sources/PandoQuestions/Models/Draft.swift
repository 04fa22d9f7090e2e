import Foundation
import Pando

/// The values of an item, with the numbers of its children instead of the children.
struct Draft: Equatable, Sendable {
  var id: Int
  var title: String
  var note: String?
  var rank: Int
  var level: Int?
  var price: Decimal
  var rate: Decimal?
  var weight: Double
  var due: Date?
  var made: Date
  var mark: Mark
  var isOpen: Bool
  var code: Int?
  var tags: [String]
  var parts: [Part]
  var owner: Int?
  var helpers: [Int]

  static let prices = [-250, -1, 0, 10, 30, 999, 100_005].map { Decimal($0) / 100 }
  /// Numbers whose sums are exact.
  static let plainWeights = [-2.5, -0.0, 0, 0.25, 1, 7.75]
  /// The others round in floating point.
  static let weights = plainWeights + [0.1, 0.2, 1e17, -1e17, .infinity]
  static let dates = [0, 1, 43_200.5, 86_399, 86_400, 200_000].map {
    Date(timeIntervalSinceReferenceDate: $0)
  }

  init(id: Int, _ choices: inout Choices, isRough: Bool) {
    self.id = id
    title = choices.pick(Texts.titles)
    note = choices.chance(40) ? nil : choices.pick(Texts.titles)
    rank = choices.below(6)
    level = choices.chance(30) ? nil : choices.below(4) - 1
    price = choices.pick(Self.prices)
    rate = choices.chance(40) ? nil : choices.pick(Self.prices)
    weight = choices.pick(isRough ? Self.weights : Self.plainWeights)
    due = choices.chance(40) ? nil : choices.pick(Self.dates)
    made = choices.pick(Self.dates)
    mark = choices.pick(Mark.allCases)
    isOpen = choices.chance(50)
    code = choices.chance(50) ? nil : choices.below(60)
    tags = (0..<choices.below(4)).map { _ in choices.pick(Texts.tags) }
    parts = (0..<choices.below(4)).map { _ in
      Part(
        kind: choices.pick(Texts.kinds), number: choices.below(5) - 1,
        price: choices.pick(Self.prices))
    }
    owner = choices.chance(35) ? nil : choices.below(4)
    helpers = (0..<choices.below(3)).map { _ in choices.below(4) }
  }

  /// The item with its children.
  func item(_ people: [Int: Person]) -> Item {
    Item(
      id: id, title: title, note: note, rank: rank, level: level, price: price, rate: rate,
      weight: weight, due: due, made: made, mark: mark, isOpen: isOpen, code: code, tags: tags,
      parts: parts, owner: owner.flatMap { people[$0] }, helpers: helpers.compactMap { people[$0] })
  }

  /// Equal texts of other bytes differ.
  static func == (left: Draft, right: Draft) -> Bool {
    left.id == right.id && left.title.utf8.elementsEqual(right.title.utf8)
      && left.note.compared == right.note.compared && left.rank == right.rank
      && left.level == right.level && left.price == right.price && left.rate == right.rate
      && left.weight == right.weight && left.due == right.due && left.made == right.made
      && left.mark == right.mark && left.isOpen == right.isOpen && left.code == right.code
      && left.tags.compared == right.tags.compared && left.parts == right.parts
      && left.owner == right.owner && left.helpers == right.helpers
  }
}

/// A change of one part of an item.
enum Edit: Int, CaseIterable, Sendable {
  case title, note, rank, level, price, rate, weight, due, mark, isOpen, code, owner, helpers, tags
  case appendPart, insertPart, removePart, reverseLists, partNumber

  /// Takes a part of another item.
  func apply(to draft: inout Draft, from other: Draft) {
    switch self {
    case .title: draft.title = other.title
    case .note: draft.note = other.note
    case .rank: draft.rank = other.rank
    case .level: draft.level = other.level
    case .price: draft.price = other.price
    case .rate: draft.rate = other.rate
    case .weight: draft.weight = other.weight
    case .due: draft.due = other.due
    case .mark: draft.mark = other.mark
    case .isOpen: draft.isOpen.toggle()
    case .code: draft.code = other.code
    case .owner: draft.owner = other.owner
    case .helpers: draft.helpers = other.helpers
    case .tags: draft.tags = other.tags
    case .appendPart: draft.parts += other.parts.suffix(1)
    case .insertPart: draft.parts.insert(contentsOf: other.parts.prefix(1), at: 0)
    case .removePart: if !draft.parts.isEmpty { draft.parts.removeFirst() }
    case .reverseLists:
      draft.parts.reverse()
      draft.tags.reverse()
      draft.helpers.reverse()
    case .partNumber:
      if !draft.parts.isEmpty { draft.parts[draft.parts.count - 1].number = other.rank }
    }
  }
}
