import Pando

/// The condition that remarks name an item, as data.
struct Remarked: Sendable {
  /// Only remarks with more likes count.
  let likes: Int?
  /// Only remarks that another one answers count.
  let isAnswered: Bool
  /// Whether a remark names an item by one of its mentions.
  let byMention: Bool
  let atLeast: Int

  init(_ choices: inout Choices) {
    likes = choices.chance(50) ? choices.below(3) : nil
    isAnswered = choices.chance(25)
    byMention = choices.chance(40)
    atLeast = choices.pick([1, 1, 1, 2, 3])
  }

  /// The filter of Pando.
  var filter: Filter<Item> {
    var filter: Filter<Remark> = likes.map { \Remark.likes > $0 } ?? .all
    if isAnswered { filter = filter && .has(by: \Remark.answers) }
    let query = Query(filter: filter)
    return byMention
      ? .has(query, by: .each(\.mentions), atLeast: atLeast)
      : .has(query, by: \.item, atLeast: atLeast)
  }

  /// The numbers of the items that meet it, in plain Swift.
  func items(_ remarks: [Int: Remark], _ mistake: Mistake?) -> [Int] {
    let answered = Set(remarks.values.compactMap(\.answers))
    var counts: [Key<Item>: Int] = [:]
    for remark in remarks.values {
      if let likes, remark.likes <= likes { continue }
      if isAnswered, mistake != .unansweredRemark, !answered.contains(remark.key) { continue }
      let names = byMention ? remark.mentions : [remark.item].compactMap(\.self)
      for name in mistake == .remarkNamesTwice ? names : Array(Set(names)) {
        counts[name, default: 0] += 1
      }
    }
    let minimum = mistake == .oneRemark ? 1 : atLeast
    return counts.filter { $0.value >= minimum }.compactMap(\.key.number)
  }

  /// The condition of a row `i` of items.
  var sql: String {
    let counted =
      (likes.map { " AND r.likes > \($0)" } ?? "")
      + (isAnswered ? " AND r.id IN (SELECT answers FROM remarks)" : "")
    let count =
      byMention
      ? "SELECT count(DISTINCT r.id) FROM mentions m JOIN remarks r ON r.id = m.remark WHERE m.item = i.id"
      : "SELECT count(*) FROM remarks r WHERE r.item = i.id"
    return "(\(count)\(counted)) >= \(atLeast)"
  }
}

extension Condition {
  /// Whether remarks count.
  var isRemarked: Bool {
    switch self {
    case .remarked: true
    case .and(let one, let other), .or(let one, let other): one.isRemarked || other.isRemarked
    case .not(let other): other.isRemarked
    default: false
    }
  }

  /// The same condition for these remarks, with the items named.
  func resolved(_ remarks: [Int: Remark], _ mistake: Mistake?) -> Condition {
    switch self {
    case .remarked(let condition): .keys(condition.items(remarks, mistake))
    case .and(let one, let other):
      .and(one.resolved(remarks, mistake), other.resolved(remarks, mistake))
    case .or(let one, let other):
      .or(one.resolved(remarks, mistake), other.resolved(remarks, mistake))
    case .not(let other): .not(other.resolved(remarks, mistake))
    default: self
    }
  }
}

extension Selection {
  /// The same selection for these remarks.
  func resolved(_ remarks: [Int: Remark], _ mistake: Mistake? = nil) -> Selection {
    var selection = self
    selection.condition = condition.resolved(remarks, mistake)
    return selection
  }
}

extension Key {
  /// The number in the key of an item or a remark.
  var number: Int? { rawValue.split(separator: ":").last.flatMap { Int($0) } }
}
