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

  /// The list of contacts knows that Ada is online; so does the message, from now on.
  func openContacts(_ service: InboxService, _ backend: Backend) async throws {
    step("A contacts view opens and learns that Ada is online: the message view is told")
    await openCacheFirst("/contacts", backend) { await service.contactsView.open() }
    await service.dataModelManager.drain()
    try expect([
      Expectation("ContactsView", .asks, "contacts"),
      Expectation("ContactsView", .cache),
      Expectation("ContactsView", .network, "Ada (online)", context: "the network"),
      Expectation("MessageView", .told, "from Ada (online)", context: "the network"),
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
