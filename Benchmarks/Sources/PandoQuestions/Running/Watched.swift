import Foundation
import Pando

/// A query or a question of a sequence, on each side: asked, followed, in plain Swift and in SQLite.
final class Watched {
  private let index: Int
  private let asked: Plan.Asked
  private let query: Query<Item>
  private let store: ModelStore
  private let question: AskedQuestion?
  private let sqliteQuestion: SQLiteQuestion?
  private let sqliteRows: SQLiteStatement?
  private let follower: () async throws -> (Followed, CollectionChange?)?
  private let mistake: Mistake?
  private let lazy: LazySide?
  private var last: Followed?
  /// The right results since that of the last element.
  private var skipped: [Followed] = []

  init(
    _ index: Int, _ asked: Plan.Asked, _ plan: Plan, _ store: ModelStore,
    _ database: SQLiteDatabase, _ mistake: Mistake?
  ) throws {
    self.index = index
    self.asked = asked
    self.store = store
    let query = asked.selection.query
    self.query = query
    self.mistake = mistake
    lazy = mistake.map { LazySide($0, asked) }
    if let asking = asked.asking {
      let question = AskedQuestion(asking)
      self.question = question
      sqliteRows = nil
      sqliteQuestion = try SQLiteQuestion(asking, asked.selection, isRough: plan.isRough, database)
      let next = question.follow(store, query)
      follower = { try await next().map { (.answer($0), nil) } }
      return
    }
    question = nil
    sqliteQuestion = nil
    switch asked.delivery {
    case .items:
      var iterator = store.follow(query).makeAsyncIterator()
      follower = { try await iterator.next().map { (.items($0.entities), nil) } }
    case .changes:
      var iterator = store.follow(query).changes.makeAsyncIterator()
      follower = { try await iterator.next().map { (.items($0.result.entities), $0.change) } }
    case .keys:
      var iterator = store.follow(query).keys.makeAsyncIterator()
      follower = {
        try await iterator.next().map { (.keys($0.keys.map(\.rawValue)), $0.change) }
      }
    case .heldBy(let id):
      var iterator = store.follow(Self.people(heldBy: id)).keys.makeAsyncIterator()
      follower = {
        try await iterator.next().map { (.keys($0.keys.map(\.rawValue)), $0.change) }
      }
      sqliteRows = try database.prepare(
        "SELECT id FROM people WHERE id IN (SELECT owner FROM items WHERE id = \(id)"
          + " UNION SELECT person FROM helpers WHERE item = \(id)) ORDER BY id")
      return
    }
    sqliteRows = try database.prepare(asked.selection.sql("i.id"))
  }

  private static func people(heldBy id: Int) -> Query<Person> {
    Query(filter: .held(by: Item.key(id)), order: [.ascending(\.id)])
  }

  /// Compares the sides after a commit.
  func check(_ state: State) async throws {
    let plain = PlainAnswer()
    let selection = asked.selection.resolved(state.world.remarks)
    let expected: Followed
    if let asking = asked.asking {
      let answer = plain.answer(asking, plain.items(selection, state.items))
      try checkAnswers(answer, state)
      expected = .answer(answer)
    } else if case .heldBy(let id) = asked.delivery {
      let keys = plain.people(heldBy: id, state.items)
      try checkPeople(keys, id, state)
      expected = .keys(keys)
    } else {
      let found = plain.items(selection, state.items)
      try checkItems(found, state)
      if case .keys = asked.delivery {
        expected = .keys(found.map { "Item:\($0.id)" })
      } else {
        expected = .items(found)
      }
    }
    try await checkFollowed(expected, state)
  }

  // MARK: Followed

  private func checkFollowed(_ expected: Followed, _ state: State) async throws {
    if let lazy {
      let mistaken = lazy.next(state)
      if !mistaken.isSame(expected) {
        throw finding("followed", "\(mistaken.text), not \(expected.text)", state)
      }
    }
    skipped.append(expected)
    if !state.isLast, (state.commit + 1 - asked.start) % asked.every != 0 { return }
    // An element may be of a commit before the newest one, but not older than the last element.
    while !(last?.isSwiftEqual(expected, isDictionary: asked.isDictionary) ?? false) {
      guard let (received, change) = try await follower() else {
        throw finding("followed", "nothing new, not \(expected.text)", state)
      }
      guard let place = skipped.firstIndex(where: received.isSame) else {
        throw finding("followed", "\(received.text), not \(expected.text)", state)
      }
      skipped.removeFirst(place)
      if let change { try check(change, from: last, to: received, state) }
      last = received
    }
  }

  /// The changes lead from the former result to the new one.
  private func check(
    _ change: CollectionChange, from former: Followed?, to new: Followed, _ state: State
  ) throws {
    guard case .changes(var changes) = change, let former else {
      // The first element has no change.
      if former != nil { throw finding("changes", "\(change) after the first", state) }
      return
    }
    if mistake == .changesWithoutMoves {
      changes.removeAll { if case .move = $0 { true } else { false } }
    }
    let isRight =
      switch (former, new) {
      case (.items(let old), .items(let new)): leads(changes, old, to: new)
      case (.keys(let old), .keys(let new)): leads(changes, old, to: new)
      default: false
      }
    if !isRight {
      throw finding("changes", "\(changes) from \(former.text) to \(new.text)", state)
    }
  }

  /// An element that is equal to the former one is no change, even if its texts have other bytes.
  private func leads<Element: Equatable>(
    _ changes: [CollectionChangeInformation], _ old: [Element], to new: [Element]
  ) -> Bool { old.applying(changes) { $0 < new.count ? new[$0] : old[0] } == new }

  // MARK: Asked

  private func checkAnswers(_ expected: Compared, _ state: State) throws {
    guard let question, let asking = asked.asking else { return }
    let answer = try question.ask(store, query)
    if answer != expected { throw finding("asked", "\(answer), not \(expected)", state) }
    guard let sqliteQuestion else { return }
    let (other, distance) = try sqliteQuestion.answer()
    let isSame = asking.isOfDoubles ? other.isNear(expected, distance) : other == expected
    if !isSame { throw finding("SQLite", "\(other), Swift \(expected)", state) }
  }

  private func checkPeople(_ expected: [String], _ id: Int, _ state: State) throws {
    let keys = try store.find(Self.people(heldBy: id)).entities.map { "Person:\($0.id)" }
    if keys != expected { throw finding("found", "\(keys), not \(expected)", state) }
    try checkRows(expected.map { Int($0.dropFirst(7)) ?? -1 }, state)
  }

  private func checkItems(_ expected: [Item], _ state: State) throws {
    let found = try store.find(query).entities
    if found.count != expected.count || !zip(found, expected).allSatisfy({ $0.isSame($1) }) {
      throw finding("found", "\(found.map(\.id)), not \(expected.map(\.id))", state)
    }
    try checkRows(expected.map(\.id), state)
    if state.commit % 4 == 0 {
      try checkPages(state)
      let first = try store.first(query)
      if first?.id != expected.first?.id {
        throw finding("first", "\(first?.id ?? -1), not \(expected.map(\.id))", state)
      }
    }
  }

  private func checkRows(_ expected: [Int], _ state: State) throws {
    var ids: [Int] = []
    try sqliteRows?.run { ids.append($0.int(0)) }
    if ids != expected { throw finding("SQLite", "\(ids), Swift \(expected)", state) }
  }

  /// All pages, forward and back.
  private func checkPages(_ state: State) throws {
    var paged = asked.selection
    if paged.limit == 0 || paged.uniqueBy != nil { return }
    let size = paged.limit ?? 3
    (paged.limit, paged.offset) = (nil, 0)
    let expected = PlainAnswer().items(paged.resolved(state.world.remarks), state.items).map(\.id)
    paged.limit = size
    let query = paged.query
    var forward: [[Int]] = []
    var page = try store.page(of: query)
    while true {
      forward.append(page.entities.map(\.id))
      guard let cursor = page.next else { break }
      page = try store.page(of: query, at: cursor)
    }
    var joined = forward.flatMap(\.self)
    if let lazy { joined = lazy.pages(joined, paged, state.items) }
    if joined != expected || forward.dropLast().contains(where: { $0.count != size }) {
      throw finding("pages", "\(forward), not \(expected)", state)
    }
    var back = [page.entities.map(\.id)]
    while let cursor = page.previous {
      page = try store.page(of: query, at: cursor)
      back.insert(page.entities.map(\.id), at: 0)
    }
    if back.flatMap(\.self) != expected {
      throw finding("pages back", "\(back), not \(expected)", state)
    }
  }

  private func finding(_ sides: String, _ text: String, _ state: State) -> Finding {
    Finding(sides: sides, commit: state.commit, asked: index, text: text)
  }
}
