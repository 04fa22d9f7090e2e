import PandoFixtures
import PandoModels
import Testing

@testable import PandoProviders

/// The part of observing that knows no provider: versions, waiting and ends.
@Suite struct ObservedStateTests {
  private struct Row: SimpleModel, Equatable {
    var name: String
    var contents = 0
    var modelIdentifier: String? { name }
  }

  private struct Broken: Error {}

  private func makeObserver(
    _ state: ObservedState<LiveList<Row>>
  ) -> any Observer<CollectionProviderChange<Row>> {
    ListObservation(state: state, tellsChanges: true) { list, change, context in
      CollectionProviderChange(data: list.models, change: change, context: context)
    }.makeObserver()
  }

  /// Waits until so many observers wait for the next state.
  private func waiters<Contents>(_ count: Int, of state: ObservedState<Contents>) async {
    while state.waiterCount < count { await Task.yield() }
  }

  @Test func `the state at the beginning comes first`() async throws {
    let state = ObservedState(1)
    var cursor = state.makeCursor()
    #expect(try await state.next(&cursor, isolation: nil)?.contents == 1)
  }

  @Test func `a slow observer gets the newest state only`() async throws {
    let state = ObservedState(1)
    var cursor = state.makeCursor()
    #expect(try await state.next(&cursor, isolation: nil)?.contents == 1)
    for value in 2...100 { state.publish(value) }
    #expect(try await state.next(&cursor, isolation: nil)?.contents == 100)
    state.finish()
    #expect(try await state.next(&cursor, isolation: nil) == nil)
  }

  @Test func `the last state comes, also when the end comes with it`() async throws {
    let state = ObservedState(1)
    var cursor = state.makeCursor()
    _ = try await state.next(&cursor, isolation: nil)
    state.publish(2)
    state.finish()
    state.publish(3)
    #expect(try await state.next(&cursor, isolation: nil)?.contents == 2)
    #expect(try await state.next(&cursor, isolation: nil) == nil)
    #expect(try await state.next(&cursor, isolation: nil) == nil)
  }

  @Test func `a failure ends what has begun and nothing else`() async throws {
    let state = ObservedState(1)
    var cursor = state.makeCursor()
    state.fail(Broken())
    #expect(try await state.next(&cursor, isolation: nil)?.contents == 1)
    await #expect(throws: Broken.self) { try await state.next(&cursor, isolation: nil) }
    #expect(try await state.next(&cursor, isolation: nil) == nil)
    var later = state.makeCursor()
    #expect(try await state.next(&later, isolation: nil)?.contents == 1)
    state.publish(2)
    #expect(try await state.next(&later, isolation: nil)?.contents == 2)
  }

  @Test func `cancelling an observer that waits ends it and leaves nothing`() async throws {
    let state = ObservedState(1)
    let observer = Task {
      var cursor = state.makeCursor()
      _ = try await state.next(&cursor, isolation: nil)
      let news = try await state.next(&cursor, isolation: nil)
      let after = try await state.next(&cursor, isolation: nil)
      return news == nil && after == nil
    }
    await waiters(1, of: state)
    observer.cancel()
    #expect(try await observer.value)
    #expect(state.waiterCount == 0)
  }

  @Test func `a cancelled task gets nothing`() async throws {
    let state = ObservedState(1)
    let observer = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var cursor = state.makeCursor()
      return try await state.next(&cursor, isolation: nil) == nil
    }
    #expect(try await observer.value)
  }

  @Test func `ten thousand observers that wait are all woken`() async throws {
    let state = ObservedState(0)
    let count = 10_000
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<count {
        group.addTask {
          var cursor = state.makeCursor()
          var last = 0
          while let news = try await state.next(&cursor, isolation: nil) { last = news.contents }
          return last
        }
      }
      await waiters(count, of: state)
      state.publish(1)
      state.publish(2)
      state.finish()
      return try await group.reduce(0, +)
    }
    #expect(total == 2 * count)
    #expect(state.waiterCount == 0)
  }

  @Test func `observers see ascending states while others are published`() async throws {
    let state = ObservedState(0)
    let last = 20_000
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var cursor = state.makeCursor()
          var previous = -1
          while let news = try await state.next(&cursor, isolation: nil) {
            try #require(news.contents > previous)
            previous = news.contents
          }
          return previous
        }
      }
      group.addTask {
        for value in 1...last { state.publish(value) }
        state.finish()
        return last
      }
      for try await end in group { #expect(end == last) }
    }
  }

  @Test(arguments: seeds(8))
  func `changes lead a slow observer exactly to the newest list`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var list = LiveList<Row>(rows: [], models: [])
    let state = ObservedState(list)
    var observer = makeObserver(state)
    var shown: [Row] = []
    var nextRow: UInt32 = 0
    for step in 0..<300 {
      var updated: [UInt32] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0...list.rows.count, using: &random)
        if Int.random(in: 0..<3, using: &random) == 0 || index == list.rows.count {
          list.rows.insert(nextRow, at: index)
          list.models.insert(Row(name: "\(nextRow)"), at: index)
          nextRow += 1
        } else if Bool.random(using: &random) {
          list.models[index].contents += 1
          updated.append(list.rows[index])
        } else if Bool.random(using: &random) {
          list.rows.remove(at: index)
          list.models.remove(at: index)
        } else {
          let place = Int.random(in: 0..<list.rows.count, using: &random)
          list.rows.insert(list.rows.remove(at: index), at: place)
          list.models.insert(list.models.remove(at: index), at: place)
        }
      }
      let reads = step == 0 || Int.random(in: 0..<3, using: &random) == 0
      if reads {
        // What cancels out is not told: with this, there is something to tell.
        list.rows.append(nextRow)
        list.models.append(Row(name: "\(nextRow)"))
        nextRow += 1
      }
      state.publish(list, updated: updated, context: step)
      guard reads else { continue }
      let change = try #require(try await observer.next(isolation: nil))
      try #require(change.data == list.models)
      try #require((change.change == .reset) == (step == 0))
      try #require(change.context as? Int == (step == 0 ? nil : step))
      shown = shown.applying(change.change, from: change.data) { $0 }
      try #require(shown == list.models, "seed \(seed), step \(step): \(change.change)")
    }
  }

  @Test func `a reset among the changes an observer was too slow for is a reset`() async throws {
    let state = ObservedState(LiveList<Row>(rows: [], models: []))
    var observer = makeObserver(state)
    _ = try await observer.next(isolation: nil)
    state.publish(LiveList(rows: [1], models: [Row(name: "a")]), isReset: true)
    state.publish(LiveList(rows: [1, 2], models: [Row(name: "a"), Row(name: "b")]))
    #expect(try await observer.next(isolation: nil)?.change == .reset)
    state.publish(LiveList(rows: [2], models: [Row(name: "b")]))
    #expect(try await observer.next(isolation: nil)?.change == .changes([.delete(index: 0)]))
  }
}
