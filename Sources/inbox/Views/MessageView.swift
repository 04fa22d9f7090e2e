import Pando

/// Shows one message: a view controller without a screen, which logs where others would draw.
@MainActor
final class MessageView: DataProviderDelegate {
  /// The message that the view shows.
  nonisolated let id: Int
  nonisolated let dataProvider: DataProvider<Message>
  private let network: Network
  private let log: Log
  private let name: String

  /// Makes a view that shows nothing yet.
  init(
    id: Int, name: String = "MessageView", _ dataModelManager: DataModelManager, _ network: Network,
    _ log: Log
  ) {
    self.id = id
    self.name = name
    self.network = network
    self.log = log
    dataProvider = DataProvider<Message>(dataModelManager: dataModelManager)
    dataProvider.delegate = self
  }

  /// Asks cache and network at the same time; who answers first is shown first.
  func open() async {
    log(name, .asks, "the cache and the network for \(Message.modelIdentifier(id))")
    async let cached: Void = showCached()
    async let fetched: Void = showFetched()
    _ = await (cached, fetched)
  }

  private func showCached() async {
    do {
      let message = try await dataProvider.fetchDataFromCache(
        withCacheKey: Message.modelIdentifier(id))
      log(name, .cache, message == nil ? "has no \(Message.modelIdentifier(id))" : content)
    } catch {
      log(name, .cache, "failed: \(error)")
    }
  }

  private func showFetched() async {
    do {
      let message = try await network.message(id)
      dataProvider.setData(message, context: "the network")
      log(name, .network, content, context: "the network")
    } catch {
      log(name, .network, "gives no answer")
    }
  }

  /// Called on the main queue, because that is where the manager delivers.
  nonisolated func dataProviderHasUpdatedData<T>(
    _ dataProvider: DataProvider<T>, context: (any Sendable)?
  ) {
    MainActor.assumeIsolated { log(name, .told, content, context: context as? String) }
  }

  /// What would be drawn.
  var content: String {
    dataProvider.data.map { "shows \($0)" } ?? "shows nothing"
  }
}
