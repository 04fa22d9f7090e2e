import PandoLMDB
import PandoManagers
import PandoModels
import PandoStore
import Testing

@testable import PandoManagersFixtures

/// An event of one identifier.
enum OrderEvent: String, CaseIterable {
  /// A server is asked for it.
  case read = "r"
  /// The server's answer to that comes.
  case answer = "a"
  /// It is set here.
  case set = "s"
  /// It is set here to what it is already.
  case repeated = "e"
  /// It is set here and queued for the server.
  case write = "w"
  /// The server's answer to that comes.
  case confirmation = "c"
  /// It is removed here.
  case delete = "d"
  /// The process ends and begins again.
  case restart = "x"

  /// All orders of some events in which no answer comes before its question.
  static func orders(of events: [OrderEvent]) -> [[OrderEvent]] {
    guard !events.isEmpty else { return [[]] }
    return events.flatMap { first in
      let rest = events.filter { $0 != first }
      if first == .answer, rest.contains(.read) { return [[OrderEvent]]() }
      if first == .confirmation, rest.contains(.write) { return [] }
      return orders(of: rest).map { [first] + $0 }
    }
  }
}

/// The expected state: the write with the highest place counts, at any time of its arrival.
///
/// The place of a write made here is when it is made; that of an answer is when its question was asked.
struct OrderReference {
  private var place = 0
  private var counting: (place: Int, title: String?) = (0, nil)
  private var asked: Int?
  private var written: Int?

  /// Whether removing what is not there says nothing: that is so in a plain write of the model store.
  private let forgetsAbsent: Bool

  init(initially title: String?, forgetsAbsent: Bool = false) {
    counting.title = title
    self.forgetsAbsent = forgetsAbsent
  }

  /// The title that counts now.
  var title: String? { counting.title }

  /// - Returns: What the event writes; `nil` if it writes nothing.
  mutating func carryOut(_ event: OrderEvent) {
    place += 1
    switch event {
    case .read: asked = place
    case .answer: if let asked { apply("answer", at: asked) }
    case .set: apply("set", at: place)
    case .repeated: if let title { apply(title, at: place) }
    case .write:
      written = place
      apply("write", at: place)
    case .confirmation: if let written { apply("confirmation", at: written) }
    case .delete: if title != nil || !forgetsAbsent { apply(nil, at: place) }
    case .restart: asked = nil
    }
  }

  private mutating func apply(_ title: String?, at place: Int) {
    if place >= counting.place { counting = (place, title) }
  }
}

/// A manager over a stack of stores, which can end and begin again.
final class OrderWorld {
  /// The API that removes and sets.
  enum Writer: String, CaseIterable, Sendable {
    case manager
    /// A plain write of the model store, such as those of providers.
    case modelStore
  }

  let writer: Writer
  private let path: String?
  private(set) var store: ModelStore?
  private(set) var remote: QueueDouble<Book>
  private(set) var manager: CoreManager<Book>

  /// - Parameters:
  ///   - path: Where the store is; `nil` for one in memory.
  ///   - writer: Who removes and sets.
  /// - Throws: `StoreError`, `LMDBError`.
  init(path: String?, writer: Writer = .manager) throws {
    self.path = path
    self.writer = writer
    let store = try path.map(Self.open)
    let remote = QueueDouble<Book>(store)
    self.store = store
    self.remote = remote
    manager = Self.makeManager(store, remote)
  }

  private static func open(_ path: String) throws -> ModelStore {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 64 << 20
    configuration.durability = .unsynchronized
    return try ModelStore(path: path, configuration: configuration)
  }

  private static func makeManager(
    _ store: ModelStore?, _ remote: QueueDouble<Book>
  ) -> CoreManager<Book> {
    guard let store else { return CoreManager(stores: [InMemoryStore(), remote]) }
    let cache = LRUStore(store: InMemoryStore<Book>(), limit: 10)
    return CoreManager(stores: [remote, DiskStore(modelStore: store), cache])
  }

  /// Ends the process, as far as a test can.
  func close() async { await store?.close() }

  func restart() async throws {
    await close()
    store = try path.map(Self.open)
    remote = QueueDouble(store)
    manager = Self.makeManager(store, remote)
  }

  /// Carries out orders of events, each on an identifier of its own.
  func perform(_ orders: [[OrderEvent]], initially title: String?) async throws {
    var runs: [OrderRun] = []
    for (number, events) in orders.enumerated() {
      runs.append(try await OrderRun(self, "\(number)", events, initially: title))
    }
    for run in runs { try await run.perform() }
    // Those that are left have a restart before them.
    if runs.contains(where: \.needsRestart) {
      for run in runs { await run.lose() }
      try await restart()
      for run in runs { try await run.perform() }
    }
    for run in runs { await run.lose() }
    let found = try await manager.all().entities
    let titles = Dictionary(uniqueKeysWithValues: found.map { ($0.id.text, $0.title) })
    for run in runs { try #require(titles[run.key] == run.title, "\(run.name), by query") }
    await close()
  }
}

/// Carries events out on one identifier, one after another, and compares after each.
final class OrderRun {
  let key: String
  let name: String
  private let world: OrderWorld
  private var events: ArraySlice<OrderEvent>
  private var reading: Task<Book?, any Error>?
  private var written: Written<Book>?
  private var reference: OrderReference

  init(
    _ world: OrderWorld, _ key: String, _ events: [OrderEvent], initially title: String?
  ) async throws {
    self.world = world
    self.key = key
    self.events = events[...]
    name = "\(events.map(\.rawValue).joined()), \(world.writer)"
    reference = OrderReference(
      initially: title, forgetsAbsent: world.writer == .modelStore)
    if let title { try await world.manager.set(Book(key, title)) }
  }

  /// The title that should be stored now.
  var title: String? { reference.title }

  /// Whether the next event is a restart.
  var needsRestart: Bool { events.first == .restart }

  /// Goes on to the end, or to a restart that is not the first event.
  func perform() async throws {
    var isFirst = true
    while let event = events.first, event != .restart || (isFirst && hasRestarted) {
      isFirst = false
      events.removeFirst()
      try await perform(event)
      reference.carryOut(event)
      try await check(event, "\(name), before \(events.map(\.rawValue).joined())")
    }
  }

  private var hasRestarted = false

  /// Loses what is in flight, as the end of a process does.
  func lose() async {
    hasRestarted = true
    written = nil
    guard let reading else { return }
    world.remote.answerRead(of: key, .failure(TestFailure.connection))
    _ = await reading.result
    self.reading = nil
  }

  private func perform(_ event: OrderEvent) async throws {
    switch event {
    case .read:
      reading = Self.read(key, world.manager)
      await world.remote.asked(for: key)
    case .answer:
      guard let reading else { return }
      world.remote.answerRead(of: key, .success([Book(key, "answer")]))
      // Rule 2: the caller gets the answer in any case.
      let answer = try await reading.value
      #expect(answer?.title == "answer")
      self.reading = nil
    case .set: try await set("set")
    case .repeated: if let title = reference.title { try await set(title) }
    case .write:
      written = try await world.manager.set(Book(key, "write"), in: .localAndRemote)
      #expect(written?.state == .queued)
    case .confirmation: try await world.remote.answerWrite(Book(key, "confirmation"))
    case .delete:
      if world.writer == .manager {
        try await world.manager.remove(atID: .remote(key))
      } else {
        try await world.store?.write { [key] in _ = try $0.deleteIfPresent("Book:\(key)") }
      }
    case .restart: break
    }
  }

  private static func read(
    _ key: String, _ manager: CoreManager<Book>
  ) -> Task<Book?, any Error> {
    Task { try await manager.get(byID: .remote(key), in: .remote()) }
  }

  private func set(_ title: String) async throws {
    if world.writer == .manager {
      try await world.manager.set(Book(key, title))
    } else {
      try await world.store?.write { [key] in try $0.set(Book(key, title)) }
    }
  }

  private func check(_ event: OrderEvent, _ name: String) async throws {
    if event == .confirmation, let written {
      // Rule 4: who set it gets what is stored, or `conflict`.
      if let title = reference.title {
        let value = try await written.confirmed()
        try #require(value.title == title, "\(name): what the caller is told")
      } else {
        let error = await #expect(throws: ManagerError.self) { try await written.confirmed() }
        try #require(error?.code == .conflict, "\(name): what the caller is told")
      }
    }
    let book = try await world.manager.get(byID: .remote(key))
    try #require(book?.title == reference.title, "\(name)")
  }
}
