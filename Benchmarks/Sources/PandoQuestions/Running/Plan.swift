import Pando

/// A sequence of commits with its data, indexes and questions.
///
/// It follows from its seed.
struct Plan: Sendable {
  struct Index: Sendable {
    let fields: [String]
    var sums: [String]?
    var isUnique = false
  }

  struct Asked: Sendable {
    var selection: Selection
    /// `nil` for the items themselves.
    var asking: Asking?
    var delivery = Delivery.items
    /// How many commits there are before the follower begins.
    var start = 1
    /// The follower takes an element after so many commits.
    var every = 1

    /// Whether the answer has groups without an order.
    var isDictionary: Bool {
      guard let asking, asking.grouping != .none else { return false }
      if case .dictionary = asking.form { return true }
      return false
    }
  }

  /// In which form a follower of a query is received.
  enum Delivery: Sendable {
    case items
    case changes
    case keys
    /// The keys of the people in an item, instead of items.
    case heldBy(Int)
  }

  let seed: UInt64
  var writer: Writer
  /// Whether sums of doubles are rounded.
  let isRough: Bool
  var indexes: [Index]
  /// Other indexes that replace them before a commit.
  var laterIndexes: (commit: Int, indexes: [Index])?
  var start: [Draft]
  var asked: [Asked]
  var commits: [[Change]]

  init(seed: UInt64) {
    self.seed = seed
    var choices = Choices(seed: seed)
    switch choices.below(100) {
    case 0, 1, 2: writer = .disk
    case 3: writer = .otherProcess
    case 4: writer = .replica
    default: writer = .none
    }
    let isRough = choices.chance(30)
    self.isRough = isRough
    indexes = choices.chance(25) ? [] : Self.someIndexes(&choices)
    // Few numbers, so that changes meet the same items again.
    let count = choices.chance(3) ? 150 : choices.pick([3, 8, 15, 40])
    start = (0..<count).filter { _ in choices.chance(70) }.map {
      Draft(id: $0, &choices, isRough: isRough)
    }
    asked = (0...choices.below(2)).map { _ in
      let deliveries: [Delivery] = [
        .items, .changes, .changes, .keys, .keys, .heldBy(choices.below(count)),
      ]
      return Asked(selection: Selection(&choices), delivery: choices.pick(deliveries))
    }
    for _ in 0..<2 {
      let selection = choices.chance(40) ? choices.pick(asked).selection : Selection(&choices)
      asked.append(Asked(selection: selection, asking: Asking(&choices)))
    }
    for index in asked.indices {
      asked[index].start = choices.pick([0, 1, 1, 1, 1, choices.below(6)])
      asked[index].every = choices.pick([1, 1, 1, 1, 2, 3])
    }
    commits = (0..<(4 + choices.below(9))).map { _ in
      let number = choices.pick([1, 1, 1, 2, 3, 8])
      return (0..<number).map { _ in Self.change(&choices, count, isRough, isNested: false) }
    }
    if asked.contains(where: { $0.selection.condition.isRemarked }) {
      for index in commits.indices {
        let number = index == 0 ? 5 : choices.pick([0, 1, 1, 2])
        commits[index] += (0..<number).map { _ in Self.changeOfRemark(&choices, count) }
      }
    }
    if choices.chance(10) {
      let later = Self.someIndexes(&choices).filter { !$0.isUnique }
      laterIndexes = (2 + choices.below(4), later + indexes.filter(\.isUnique))
    }
  }

  private static func someIndexes(_ choices: inout Choices) -> [Index] {
    indexes.filter { _ in choices.chance(20) }
  }

  private static func change(
    _ choices: inout Choices, _ count: Int, _ isRough: Bool, isNested: Bool
  ) -> Change {
    let id = choices.below(count)
    switch choices.below(isNested ? 12 : 14) {
    case 0, 1: return .set(Draft(id: id, &choices, isRough: isRough))
    case 2, 3, 4, 5, 6:
      return .edit(
        id, choices.pick(Edit.allCases), from: Draft(id: id, &choices, isRough: isRough))
    case 7, 8: return .delete(id)
    case 9, 10:
      return .setPerson(
        Person(
          id: choices.below(4), name: choices.pick(Texts.names),
          score: choices.pick([nil, 0, 1, 2])))
    case 11: return .deletePerson(choices.below(4))
    case 12:
      return .rolledBack(
        (0..<2).map { _ in change(&choices, count, isRough, isNested: true) })
    default: return .undo
    }
  }

  private static func changeOfRemark(_ choices: inout Choices, _ count: Int) -> Change {
    choices.chance(25)
      ? .deleteRemark(choices.below(8)) : .setRemark(Remark(&choices, itemCount: count))
  }

  private static let indexes: [Index] = [
    Index(fields: ["rank"]), Index(fields: ["title"]), Index(fields: ["folded(title)"]),
    Index(fields: ["words(title)"]), Index(fields: ["words(title,note)"]),
    Index(fields: ["price"]), Index(fields: ["weight"]), Index(fields: ["due"]),
    Index(fields: ["note", "title"]), Index(fields: ["mark", "rank"]),
    Index(fields: ["mark", "level", "price"]), Index(fields: ["isOpen", "made"]),
    Index(fields: ["owner.name"]), Index(fields: ["owner"]),
    Index(fields: ["owner.score", "rank"]), Index(fields: ["tags[]"]),
    Index(fields: ["tags[]", "mark"]), Index(fields: ["parts[].number"]),
    Index(fields: ["parts[].kind"]), Index(fields: ["helpers[].name"]),
    Index(fields: ["helpers[]"]), Index(fields: ["level"], sums: ["price", "rank"]),
    Index(fields: ["mark"], sums: []), Index(fields: ["rank", "made"], sums: ["weight", "level"]),
    Index(fields: ["folded(note)", "rank"]), Index(fields: ["code"], isUnique: true),
    Index(fields: ["id"]),
  ]
}

extension Plan.Index {
  var kind: String {
    if isUnique { return "unique" }
    if sums != nil { return "totals" }
    if fields[0].hasPrefix("words") { return "words" }
    if fields[0].hasPrefix("folded") { return "folded" }
    if fields.contains(where: { $0.contains("[]") }) { return "elements" }
    return fields.count > 1 ? "composite" : "plain"
  }
}

extension Change {
  var kind: String {
    switch self {
    case .set: "set"
    case .edit(_, let edit, _): "edit of \(edit)"
    case .delete: "delete"
    case .setPerson: "child changed"
    case .deletePerson: "child deleted"
    case .setRemark: "remark changed"
    case .deleteRemark: "remark deleted"
    case .rolledBack: "rolled back"
    case .undo: "undo"
    }
  }
}

extension Plan: CustomStringConvertible {
  /// The sequence as text, line by line.
  var description: String {
    var lines = [
      "seed \(seed), writer: \(writer)"
    ]
    lines += indexes.map { index in
      "index on \(index.fields)" + (index.isUnique ? ", unique" : "")
        + (index.sums.map { ", sums \($0)" } ?? "")
    }
    if let laterIndexes {
      lines +=
        ["before commit \(laterIndexes.commit) other indexes:"]
        + laterIndexes.indexes.map { "  on \($0.fields)" }
    }
    lines += start.map { "start: set \($0.text)" }
    for asked in asked {
      lines.append("ask: \(asked.selection.text)")
      if let asking = asked.asking {
        lines.append(
          "  for \(asking.measure) grouped by \(asking.grouping), \(asking.form)"
            + (asking.having.map { ", having > \($0)" } ?? ""))
      } else {
        lines.append("  for \(asked.delivery)")
      }
      lines.append("  from commit \(asked.start) on, each \(asked.every)")
    }
    for (index, changes) in commits.enumerated() {
      lines.append("commit \(index + 1):")
      lines += changes.map { "  " + $0.text }
    }
    return lines.joined(separator: "\n")
  }
}

extension Selection {
  var text: String {
    let orders = order.map { order in
      ItemField.all[order.field].name + (order.isDescending ? " descending" : "")
        + (order.isFolded ? " folded" : "")
    }
    return "\(condition.text)" + (orders.isEmpty ? "" : " order \(orders)")
      + (uniqueBy.map { " unique by \(ItemField.all[$0].name)" } ?? "")
      + (offset > 0 ? " offset \(offset)" : "") + (limit.map { " limit \($0)" } ?? "")
  }
}

extension Condition {
  var text: String {
    switch self {
    case .compare(let field, let comparison, let value):
      "\(ItemField.all[field].name) \(comparison) \(value)"
    case .isIn(let field, let values): "\(ItemField.all[field].name) in \(values)"
    case .prefix(let field, let text): "\(ItemField.all[field].name) has prefix “\(text)”"
    case .part(let field, let text, let isFolded):
      "\(ItemField.all[field].name) contains “\(text)”" + (isFolded ? " folded" : "")
    case .and(let one, let other): "(\(one.text) && \(other.text))"
    case .or(let one, let other): "(\(one.text) || \(other.text))"
    case .not(let other): "!\(other.text)"
    default: "\(self)"
    }
  }
}

extension Draft {
  /// The fields that are not empty.
  var text: String {
    let parts = parts.map { "\($0.kind) \($0.number) \($0.price)" }
    return "\(id): title “\(title)” note \(note.compared) rank \(rank) level \(level.compared)"
      + " price \(price) rate \(rate.compared) weight \(weight) due \(due.compared)"
      + " made \(made.compared) mark \(mark) isOpen \(isOpen) code \(code.compared) tags \(tags)"
      + " parts \(parts) owner \(owner.compared) helpers \(helpers)"
  }
}

extension Change {
  var text: String {
    switch self {
    case .set(let draft): "set \(draft.text)"
    case .edit(let id, let edit, let from): "edit \(id): \(edit) of \(from.text)"
    case .delete(let id): "delete \(id)"
    case .setPerson(let person):
      "set person \(person.id): “\(person.name)” \(person.score.compared)"
    case .deletePerson(let id): "delete person \(id)"
    case .setRemark(let remark):
      "set remark \(remark.id): item \(remark.item?.rawValue ?? "none"), mentions"
        + " \(remark.mentions.map(\.rawValue)), likes \(remark.likes), answers"
        + " \(remark.answers?.rawValue ?? "none")"
    case .deleteRemark(let id): "delete remark \(id)"
    case .rolledBack(let changes):
      "rolled back: " + changes.map(\.text).joined(separator: "; ")
    case .undo: "undo"
    }
  }
}
