import CoreManagers
import LMDB
import ModelCore
import StoreEngine
import Testing

/// What can happen to one identifier.
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

/// What is right: the write with the highest place counts, whenever it comes.
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

  /// What is stored now.
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

/// Carries events out on a manager, one after another, and compares after each.
final class OrderRun {
  /// Who removes and sets.
  enum Writer: String, CaseIterable, Sendable {
    case manager
    /// A plain write of the model store, such as those of providers.
    case modelStore
  }

  static let id: EntityIdentifier<Book> = .remote("1")

  private let path: String?
  private let writer: Writer
  private var store: ModelStore?
  private var remote: QueueDouble<Book>
  private var manager: CoreManager<Book>
  private var reading: Task<Book?, any Error>?
  private var written: Written<Book>?
  private var reference: OrderReference

  /// - Parameters:
  ///   - path: Where the store is; `nil` for one in memory.
  ///   - writer: Who removes and sets.
  ///   - title: What is there at first.
  /// - Throws: `StoreError`, `LMDBError`.
  init(path: String?, writer: Writer, initially title: String?) async throws {
    self.path = path
    self.writer = writer
    store = try path.map(Self.open)
    remote = QueueDouble(store)
    manager = Self.makeManager(store, remote)
    reference = OrderReference(
      initially: title, forgetsAbsent: writer == .modelStore)
    if let title { try await manager.set(Book("1", title)) }
  }

  private static func open(_ path: String) throws -> ModelStore {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 16 << 20
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

  func perform(_ events: [OrderEvent]) async throws {
    let name = events.map(\.rawValue).joined()
    for (index, event) in events.enumerated() {
      try await perform(event)
      reference.carryOut(event)
      try await check(event, "\(name), after \(index + 1) events, \(writer)")
    }
    try await end()
  }

  /// Ends what has not ended.
  private func end() async throws {
    if let reading {
      remote.answerRead(.failure(TestFailure.connection))
      _ = await reading.result
    }
    reading = nil
    await store?.close()
  }

  private func perform(_ event: OrderEvent) async throws {
    switch event {
    case .read:
      reading = Self.read(manager)
      await remote.asked()
    case .answer:
      guard let reading else { return }
      remote.answerRead(.success([Book("1", "answer")]))
      // Rule 2: the caller gets the answer in any case.
      #expect(try await reading.value?.title == "answer")
      self.reading = nil
    case .set: try await set("set")
    case .repeated: if let title = reference.title { try await set(title) }
    case .write:
      written = try await manager.set(Book("1", "write"), in: .localAndRemote)
      #expect(written?.state == .queued)
    case .confirmation: try await remote.answerWrite([Book("1", "confirmation")])
    case .delete:
      if writer == .manager {
        try await manager.remove(atID: Self.id)
      } else {
        try await store?.write { _ = try $0.delete(Self.id.modelIdentifier) }
      }
    case .restart: try await restart()
    }
  }

  private static func read(_ manager: CoreManager<Book>) -> Task<Book?, any Error> {
    let identifier = id
    return Task { try await manager.get(byID: identifier, in: .remote()) }
  }

  private func set(_ title: String) async throws {
    if writer == .manager {
      try await manager.set(Book("1", title))
    } else {
      try await store?.write { try $0.set(Book("1", title)) }
    }
  }

  private func restart() async throws {
    guard let path else { return }
    try await end()
    let opened = try Self.open(path)
    store = opened
    remote = QueueDouble(opened)
    manager = Self.makeManager(opened, remote)
    written = nil
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
    let book = try await manager.get(byID: Self.id)
    try #require(book?.title == reference.title, "\(name)")
    let found = try await manager.all()
    try #require(found.first?.title == reference.title, "\(name), by query")
  }
}
