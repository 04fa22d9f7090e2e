import Foundation
import Glibc
import MicroHTTP
import Pando

/// “Fetching from the network”.
extension Story {
  /// Cache and network are asked at the same time, and the cache answers first.
  func openMessage(_ service: InboxService, _ backend: Backend) async throws {
    step("A message view opens: it asks cache and network at once, and the cache is first")
    await openCacheFirst("/messages/34", backend) { await service.messageView.open() }
    await service.dataModelManager.drain()
    try expect(
      [
        Expectation("MessageView", .asks, "Message:34"),
        Expectation("MessageView", .cache),  // a miss, or what an earlier run has left
        Expectation("MessageView", .network, "from Ada (offline)", context: "the network"),
      ], ignoringCommits: true)
  }

  /// The network answers first, and the cache too late.
  ///
  /// A store is not to be slowed down, so this view has a manager with a cache of its own.
  func openMessageWithSlowCache(_ backend: Backend) async throws {
    step("Another view has a cache that is slower than the network: that answer is ignored")
    let cache = SlowCache(holding: Backend.outdatedMessage, log)
    let manager = DataModelManager(cacheDelegate: cache, deliveringOn: .main)
    let network = Network(port: backend.port)
    let view = MessageView(id: Backend.message.id, name: "SlowView", manager, network, log)
    await cache.gate.hold(SlowCache.path)
    let number = lineCount
    async let networkHasAnswered: Void = log.line(after: number) { $0.path == .network }
    async let opened: Void = view.open()
    await networkHasAnswered
    await cache.gate.release(SlowCache.path)
    await opened
    await manager.close()
    network.stop()
    try expect([
      Expectation("SlowView", .asks, "Message:34"),
      Expectation("SlowView", .network, "“Lunch?”", context: "the network"),
      Expectation("SlowCache", .cache, "“Breakfast?”"),
      Expectation("SlowView", .cache, "“Lunch?”"),
    ])
  }

  /// In the list of contacts Ada is online; so she is in the message, from now on.
  func openContacts(_ service: InboxService, _ backend: Backend) async throws {
    step("A contacts view opens, where Ada is online: the message view is notified")
    await openCacheFirst("/contacts", backend) { await service.contactsView.open() }
    await service.dataModelManager.drain()
    try expect([
      Expectation("ContactsView", .asks, "contacts"),
      Expectation("ContactsView", .cache),
      Expectation("ContactsView", .network, "Ada (online)", context: "the network"),
      Expectation("MessageView", .notified, "from Ada (online)", context: "the network"),
      Expectation("Store", .commit, "Person:12", context: "the network"),
    ])
  }

  /// Opens a view, and holds the network's answer back until the cache has given its own.
  func openCacheFirst(
    _ path: String, _ backend: Backend, _ open: @MainActor () async -> Void
  ) async {
    await backend.gate.hold(path)
    // Counted here: a child task might begin only when the cache has answered.
    let number = log.lines.count
    async let networkIsLetGo: Void = letGo(path, backend, after: number)
    await open()
    await networkIsLetGo
  }

  private func letGo(_ path: String, _ backend: Backend, after number: Int) async {
    await log.line(after: number) { $0.path == .cache }
    await backend.gate.release(path)
  }
}

/// “A local change”, and changes that come from elsewhere.
extension Story {
  /// A push appends a contact by the key of the list; Linus has also read the message.
  func push(_ service: InboxService) async throws {
    step(
      "A push brings a new contact: the list gets a row, and the message, which he has read, too")
    let linus = [Person(id: Backend.linus.id, name: Backend.linus.name, isOnline: true)]
    try await send("POST", "/push", JSONEncoder().encode(linus), to: service)
    try expect([
      Expectation("MessageView", .notified, "Linus (online)", context: "a push"),
      Expectation("ContactsView", .notified, "row 3 inserted", "Linus (online)", context: "a push"),
      Expectation("Store", .commit, "Person:15", "contacts", context: "a push"),
    ])
  }

  /// The view changes a row: it shows that at once, and only others are notified.
  func edit(_ service: InboxService) async throws {
    step("The contacts view renames Ada: it shows that at once, and the message view is notified")
    service.contactsView.rename(row: 0, to: "Ada Lovelace")
    await service.dataModelManager.drain()
    try expect([
      Expectation("ContactsView", .own, "row 0 updated", "Ada Lovelace (online)", context: "a tap"),
      Expectation("MessageView", .notified, "from Ada Lovelace (online)", context: "a tap"),
      Expectation("Store", .commit, "updated Person:12", context: "a tap"),
    ])
  }

  /// Two processes have the store open: what one commits, the other shows, without being asked.
  func shareWithAnotherProcess(_ service: InboxService) async throws {
    step("A second process on the same store takes Ada offline: both views here are notified")
    let second = try await SecondService(directory: directory)
    let network = Network(port: second.port)
    defer { network.stop() }
    let number = lineCount
    async let told: Void = log.line(after: number) { $0.path == .commit }
    try await network.send(
      "PUT", "/people/12", Data(#"{"name": "Ada Lovelace", "isOnline": false}"#.utf8))
    await told
    try expect([
      Expectation("MessageView", .notified, "from Ada Lovelace (offline)"),
      Expectation("ContactsView", .notified, "row 0 updated", "Ada Lovelace (offline)"),
      Expectation("Store", .commit, "updated Person:12"),
    ])
    step("Here she is online again: the second process has notified its views when it says so")
    let ada = Person(id: Backend.ada.id, name: "Ada Lovelace", isOnline: true)
    service.dataModelManager.updateModel(ada, context: "a push")
    try await second.says("row 0 updated: shows Ada Lovelace (online)")
    await service.dataModelManager.drain()
    try await second.stop()
    try expect([
      Expectation("MessageView", .notified, "from Ada Lovelace (online)", context: "a push"),
      Expectation("ContactsView", .notified, "row 0 updated", context: "a push"),
      Expectation("Store", .commit, "updated Person:12", context: "a push"),
    ])
  }

  /// A deleted person is gone from everything that held her.
  func delete(_ service: InboxService) async throws {
    step("Grace is deleted: the list loses a row, the message a reader")
    try await send("DELETE", "/people/\(Backend.grace.id)", to: service)
    let context = "DELETE /people/\(Backend.grace.id)"
    try expect([
      Expectation("MessageView", .notified, "read by Linus", context: context),
      Expectation("ContactsView", .notified, "row 1 deleted", context: context),
      Expectation("Store", .commit, "deleted Person:13", context: context),
    ])
    let isGone = !service.messageView.content.contains("Grace")
    guard isGone else { throw StoryError("the message is still read by Grace") }
  }

  /// Sends a request to the service, as curl would, and waits until all views have been notified.
  private func send(
    _ method: String, _ path: String, _ body: Data = Data(), to service: InboxService
  ) async throws {
    let client = Network(port: service.port)
    defer { client.stop() }
    try await client.send(method, path, body)
    await service.dataModelManager.drain()
  }
}

/// The end of a service, and its next start.
extension Story {
  /// A change that is pending when SIGTERM comes is not lost.
  func terminate(_ service: InboxService) async throws {
    step("SIGTERM comes while a change is pending: it reaches the disk before the store closes")
    let stop = StopSignal.catchFirst()
    let barbara = Person(id: 16, name: "Barbara", isOnline: true)
    CollectionDataProvider.append(
      [barbara], cacheKey: ContactsView.cacheKey, dataModelManager: service.dataModelManager,
      context: "the last change")
    kill(getpid(), SIGTERM)
    _ = await stop.value
    await service.close()
    try expect([
      Expectation(
        "ContactsView", .notified, "row 3 inserted", "Barbara", context: "the last change"),
      Expectation("Store", .commit, "contacts", context: "the last change"),
      Expectation("Service", .service, "closed"),
    ])
  }

  /// The store alone shows it all again.
  func startAgain() async throws {
    step("The service starts again, and the network is away: all is there, from the store")
    let backend = try Backend(isAway: true)
    let service = try InboxService(directory: directory, backendPort: backend.port, log)
    await openCacheFirst("/messages/34", backend) { await service.messageView.open() }
    await openCacheFirst("/contacts", backend) { await service.contactsView.open() }
    await service.close()
    await backend.stop()
    try expect([
      Expectation("MessageView", .asks, "Message:34"),
      Expectation("MessageView", .cache, "from Ada Lovelace (online), read by Linus (online)"),
      Expectation("MessageView", .network, "no answer"),
      Expectation("ContactsView", .asks, "contacts"),
      Expectation(
        "ContactsView", .cache,
        "shows Ada Lovelace (online), Alan (offline), Linus (online), Barbara (online)"),
      Expectation("ContactsView", .network, "no answer"),
      Expectation("Service", .service, "closed"),
    ])
  }
}

/// A cache that is no Pando store: it holds one model, and answers when it is released.
///
/// Any class that can get and set by key can be a manager's cache; this one keeps nothing.
final class SlowCache: CacheDelegate {
  /// Holds the answers back; there is one path.
  let gate = Gate()
  static let path = "the cache"
  private let message: Message
  private let log: Log

  /// Makes a cache.
  ///
  /// - Parameters:
  ///   - message: The one model that it has.
  ///   - log: Where it says that it answers.
  init(holding message: Message, _ log: Log) {
    self.message = message
    self.log = log
  }

  func model<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> T? {
    await gate.pass(Self.path)
    await log("SlowCache", .cache, "answers \(message)")
    return cacheKey == message.modelIdentifier ? message as? T : nil
  }

  func setModel<T: SimpleModel>(
    _ model: T, forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func collection<T: SimpleModel>(
    forKey cacheKey: String, as type: T.Type, context: (any Sendable)?
  ) async throws -> [T]? { nil }

  func setCollection<T: SimpleModel>(
    _ models: [T], forKey cacheKey: String, context: (any Sendable)?
  ) async throws {}

  func deleteModel(forKey cacheKey: String, context: (any Sendable)?) async throws {}
}
