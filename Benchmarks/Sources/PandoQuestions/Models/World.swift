import Pando

/// A change that a commit makes.
enum Change: Sendable {
  case set(Draft)
  case edit(Int, Edit, from: Draft)
  case delete(Int)
  case setPerson(Person)
  case deletePerson(Int)
  case setRemark(Remark)
  case deleteRemark(Int)
  /// Changes in a nested transaction that is rolled back.
  case rolledBack([Change])
  /// Restores what was stored before the last commit.
  case undo
}

/// A call of a write transaction.
enum Call: Sendable {
  case set(Item)
  case update(Item)
  case delete(Int)
  case setPerson(Person)
  case deletePerson(Int)
  case setRemark(Remark)
  case deleteRemark(Int)
  case rolledBack([Call])
}

/// The stored models, in plain Swift.
struct World: Sendable {
  struct Row: Equatable, Sendable {
    /// Its place in natural order.
    let place: Int
    var draft: Draft
  }

  /// In natural order.
  private(set) var rows: [Row] = []
  private(set) var people: [Int: Person] = [:]
  private(set) var remarks: [Int: Remark] = [:]
  private var places = 0

  var items: [Item] { rows.map { $0.draft.item(people) } }

  /// Whether two items have the same code, which a unique index refuses.
  var hasEqualCodes: Bool {
    var seen: Set<Int> = []
    return rows.contains { row in row.draft.code.map { !seen.insert($0).inserted } ?? false }
  }

  /// Applies a change.
  ///
  /// - Returns: The calls that make it in a store.
  mutating func apply(_ change: Change, after former: World) -> [Call] {
    switch change {
    case .set(let draft):
      return [.set(set(draft))]
    case .edit(let id, let edit, let other):
      guard let index = index(of: id) else { return [] }
      var draft = rows[index].draft
      edit.apply(to: &draft, from: other)
      return [.update(set(draft))]
    case .delete(let id):
      guard let index = index(of: id) else { return [] }
      rows.remove(at: index)
      return [.delete(id)]
    case .setPerson(let person):
      people[person.id] = person
      return [.setPerson(person)]
    case .deletePerson(let id):
      return delete(person: id)
    case .setRemark(let remark):
      remarks[remark.id] = remark
      return [.setRemark(remark)]
    case .deleteRemark(let id):
      return remarks.removeValue(forKey: id).map { _ in [.deleteRemark(id)] } ?? []
    case .rolledBack(let changes):
      var copy = self
      return [.rolledBack(changes.flatMap { copy.apply($0, after: former) })]
    case .undo:
      return restore(former)
    }
  }

  private func index(of id: Int) -> Int? { rows.firstIndex { $0.draft.id == id } }

  private mutating func set(_ draft: Draft) -> Item {
    for id in draft.helpers + [draft.owner].compactMap(\.self) where people[id] == nil {
      people[id] = Person(id: id, name: Texts.names[id], score: id == 0 ? nil : id)
    }
    if let index = index(of: draft.id) {
      rows[index].draft = draft
    } else {
      rows.append(Row(place: places, draft: draft))
      places += 1
    }
    return draft.item(people)
  }

  private mutating func delete(person id: Int) -> [Call] {
    guard people.removeValue(forKey: id) != nil else { return [] }
    for index in rows.indices {
      if rows[index].draft.owner == id { rows[index].draft.owner = nil }
      rows[index].draft.helpers.removeAll { $0 == id }
    }
    return [.deletePerson(id)]
  }

  private mutating func restore(_ former: World) -> [Call] {
    var calls: [Call] = []
    for (id, person) in former.people.sorted(by: { $0.key < $1.key }) where people[id] != person {
      people[id] = person
      calls.append(.setPerson(person))
    }
    for (id, remark) in former.remarks where remarks[id] != remark {
      calls += apply(.setRemark(remark), after: former)
    }
    for id in remarks.keys where former.remarks[id] == nil {
      calls += apply(.deleteRemark(id), after: former)
    }
    for row in rows where former.index(of: row.draft.id) == nil {
      calls += apply(.delete(row.draft.id), after: former)
    }
    for row in former.rows where !rows.contains(where: { $0.draft == row.draft }) {
      calls.append(.set(set(row.draft)))
    }
    return calls
  }
}
