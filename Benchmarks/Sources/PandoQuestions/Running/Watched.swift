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
  private let next: () async throws -> Followed?
  private let lazy: LazySide?
  private var last: Followed?

  /// What a follower tells.
  enum Followed {
    case answer(Compared)
    case items([Item])
    case keys([String])

    /// Whether a follower need not tell of the difference.
    func isSwiftEqual(_ other: Followed) -> Bool {
      switch (self, other) {
      case (.answer(let one), .answer(let other)): one.isSwiftEqual(other)
      case (.items(let ones), .items(let others)): ones == others
      case (.keys(let ones), .keys(let others)): ones == others
      default: false
      }
    }

    func isSame(_ other: Followed) -> Bool {
      switch (self, other) {
      case (.answer(let one), .answer(let other)): one == other
      case (.items(let ones), .items(let others)):
        ones.count == others.count && zip(ones, others).allSatisfy { $0.isSame($1) }
      case (.keys(let ones), .keys(let others)): ones == others
      default: false
      }
    }
  }

  init(
    _ index: Int, _ asked: Plan.Asked, _ plan: Plan, _ store: ModelStore,
    _ database: SQLiteDatabase, _ mistake: Mistake?
  ) throws {
    self.index = index
    self.asked = asked
    self.store = store
    let query = asked.selection.query
    self.query = query
    lazy = mistake.map { LazySide($0, asked) }
    if let asking = asked.asking {
      let question = AskedQuestion(asking)
      self.question = question
      sqliteRows = nil
      sqliteQuestion = try SQLiteQuestion(
        asking, asked.selection, isRough: plan.isRough, database)
      let follower = question.follow(store, query)
      next = { try await follower().map { .answer($0) } }
    } else {
      question = nil
      sqliteQuestion = nil
      sqliteRows = try database.prepare(asked.selection.sql("i.id"))
      if asked.followsKeys {
        var iterator = store.follow(query).keys.makeAsyncIterator()
        next = { try await iterator.next().map { .keys($0.keys.map(\.rawValue)) } }
      } else {
        var iterator = store.follow(query).makeAsyncIterator()
        next = { try await iterator.next().map { .items($0.entities) } }
      }
    }
  }

  /// Compares the sides after a commit.
  func check(_ state: State) async throws {
    let plain = PlainAnswer()
    let found = plain.items(asked.selection, state.items)
    let expected: Followed
    if let asking = asked.asking {
      let answer = plain.answer(asking, found)
      try checkAnswers(answer, state)
      expected = .answer(answer)
    } else {
      try checkItems(found, state)
      expected = asked.followsKeys ? .keys(found.map { "Item:\($0.id)" }) : .items(found)
    }
    try await checkFollowed(expected, state)
  }

  private func checkFollowed(_ expected: Followed, _ state: State) async throws {
    if let lazy {
      let mistaken = lazy.next(state)
      if !mistaken.isSame(expected) {
        throw finding("followed", "\(mistaken.text), not \(expected.text)", state)
      }
    }
    if let last, last.isSwiftEqual(expected) { return }
    guard let told = try await next() else {
      throw finding("followed", "nothing new, not \(expected.text)", state)
    }
    last = told
    if !told.isSame(expected) {
      throw finding("followed", "\(told.text), not \(expected.text)", state)
    }
  }

  private func checkAnswers(_ expected: Compared, _ state: State) throws {
    guard let question, let asking = asked.asking else { return }
    let answer = try question.ask(store, query)
    if answer != expected { throw finding("asked", "\(answer), not \(expected)", state) }
    guard let sqliteQuestion else { return }
    let (other, distance) = try sqliteQuestion.answer()
    let isSame = asking.isOfDoubles ? other.isNear(expected, distance) : other == expected
    if !isSame { throw finding("SQLite", "\(other), Swift \(expected)", state) }
  }

  private func checkItems(_ expected: [Item], _ state: State) throws {
    let found = try store.find(query).entities
    if found.count != expected.count || !zip(found, expected).allSatisfy({ $0.isSame($1) }) {
      throw finding("found", "\(Self.ids(found)), not \(Self.ids(expected))", state)
    }
    var ids: [Int] = []
    try sqliteRows?.run { ids.append($0.int(0)) }
    if ids != expected.map(\.id) {
      throw finding("SQLite", "\(ids), Swift \(Self.ids(expected))", state)
    }
    if state.commit % 3 == 0 { try checkPages(state) }
  }

  /// All pages, forward and back.
  private func checkPages(_ state: State) throws {
    var paged = asked.selection
    if paged.limit == 0 { return }
    let size = paged.limit ?? 3
    (paged.limit, paged.offset) = (nil, 0)
    let expected = PlainAnswer().items(paged, state.items).map(\.id)
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

  static func ids(_ items: [Item]) -> [Int] { items.map(\.id) }
}

extension Watched.Followed {
  var text: String {
    switch self {
    case .answer(let answer): "\(answer)"
    case .items(let items): "\(items.map { $0.text })"
    case .keys(let keys): "\(keys)"
    }
  }
}

extension Item {
  /// Whether all values are equal, texts by their bytes.
  func isSame(_ other: Item) -> Bool {
    self == other && title.utf8.elementsEqual(other.title.utf8)
      && note.compared == other.note.compared && tags.compared == other.tags.compared
  }

  fileprivate var text: String {
    "\(id) “\(title)” rank \(rank) owner \((owner?.name).compared)"
  }
}
