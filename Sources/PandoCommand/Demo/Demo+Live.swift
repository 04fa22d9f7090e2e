import Dispatch
import Pando

/// The live part: who shows something is told what others write.
extension Demo {
  func watch(_ store: ModelStore) async throws {
    try title("Live: a provider and a list are told what others write, and where")
    let queue = DispatchQueue(label: "pando.demo")
    let manager = try DataModelManager(store: store, deliveringOn: .queue(queue))
    let views = LiveViews(manager, deliveringOn: queue)
    try await views.message.fetchDataFromCache(withCacheKey: "Message:demo-2")
    try await views.list.fetchDataFromCache(withCacheKey: DemoModels.inboxKey)
    try say("provider shows \(views.messageText)")
    try say("list shows     \(views.listText)")
    try await tell("A push inserts a message; it knows the list's key, and no provider", views) {
      try await CollectionDataProvider.insert(
        [DemoModels.pushed], at: 1, cacheKey: DemoModels.inboxKey, dataModelManager: manager
      ).committed()
      await manager.drain()
    }
    try await tell("A transaction takes Grace's rank away; it knows neither", views) {
      try await store.write { try $0.set(DemoModels.grace) }
      await manager.drain()
    }
    await manager.close()
  }

  private func tell(
    _ text: String, _ views: LiveViews, _ change: () async throws -> Void
  ) async throws {
    try say("")
    let (_, time) = try await timed(change)
    try say("\(text):")
    for line in views.takeLines() { try say(line) }
    try say("written, committed and told in \(time)")
  }
}
