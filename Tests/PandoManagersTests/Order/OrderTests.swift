import PandoFixtures
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// The rules of order: 1 (only what is newer applies), 2 (a read is as old as its start), 3 (so is the
/// answer to a create), 4 (what a late write is told), 5 (persisted).
@Suite struct OrderTests {
  /// The outcomes that the rules name, written out.
  @Test(
    arguments: [
      ("rsa", "set"), ("ras", "set"), ("sra", "answer"), ("rda", nil), ("rad", nil),
      ("dra", "answer"), ("wsc", "set"), ("wc", "confirmation"), ("wdc", nil),
      ("wrca", "answer"), ("wrac", "answer"), ("rwac", "confirmation"), ("rwca", "confirmation"),
      ("rea", "first"), ("wxc", "confirmation"), ("wsxc", "set"), ("wdxc", nil), ("rxa", "first"),
      ("wdsc", "set"), ("rdsa", "set"), ("rsda", nil), ("wrdca", nil), ("wrdac", nil),
    ] as [(String, String?)])
  func `a sequence of events has the outcome that the rules name`(
    events: String, outcome: String?
  ) async throws {
    let events = events.compactMap { OrderEvent(rawValue: String($0)) }
    var reference = OrderReference(initially: "first")
    for event in events { reference.carryOut(event) }
    #expect(reference.title == outcome)
    try await withTemporaryDirectory { path in
      try await OrderWorld(path: path).perform([events], initially: "first")
    }
  }

  private static let events: [OrderEvent] = [
    .read, .answer, .set, .write, .confirmation, .delete,
  ]

  @Test(arguments: OrderWorld.Writer.allCases, [nil, "first"])
  func
    `every order of read, answer, set, write, confirmation and delete has the right outcome on disk`(
      writer: OrderWorld.Writer, initially: String?
    ) async throws
  {
    let orders = OrderEvent.orders(of: Self.events)
    #expect(orders.count == 180)
    try await withTemporaryDirectory { path in
      try await OrderWorld(path: path, writer: writer).perform(orders, initially: initially)
    }
  }

  @Test(arguments: [nil, "first"])
  func `every order of events has the right outcome in memory`(initially: String?) async throws {
    try await OrderWorld(path: nil)
      .perform(OrderEvent.orders(of: Self.events), initially: initially)
  }

  /// Rule 5.
  @Test(arguments: sample(0..<7, 2))
  func `every order with a restart among them has the right outcome`(place: Int) async throws {
    let orders = OrderEvent.orders(of: Self.events + [.restart])
    #expect(orders.count == 1260)
    try await withTemporaryDirectory { path in
      try await OrderWorld(path: path)
        .perform(orders.filter { $0[place] == .restart }, initially: nil)
    }
  }

  @Test(arguments: [true, false])
  func `setting what is there already counts as a write`(onDisk: Bool) async throws {
    let orders = OrderEvent.orders(of: [.read, .answer, .repeated, .set, .delete])
    try await withTemporaryDirectory { path in
      try await OrderWorld(path: onDisk ? path : nil).perform(orders, initially: "first")
    }
  }
}
