import Glibc
import Pando

/// The end of a service, and its next start.
extension Story {
  /// A change that is on its way when SIGTERM comes is not lost.
  func terminate(_ service: InboxService) async throws {
    step("SIGTERM comes while a change is on its way: it reaches the disk before the store closes")
    let stop = StopSignal.catchFirst()
    let barbara = Person(id: 16, name: "Barbara", isOnline: true)
    CollectionDataProvider.append(
      [barbara], cacheKey: ContactsView.cacheKey, dataModelManager: service.dataModelManager,
      context: "the last change")
    kill(getpid(), SIGTERM)
    _ = await stop.value
    await service.close()
    try expect([
      Expectation("ContactsView", .told, "row 3 inserted", "Barbara", context: "the last change"),
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
