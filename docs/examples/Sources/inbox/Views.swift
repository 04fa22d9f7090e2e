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

  /// Asks cache and network at the same time; the first answer is shown first.
  func open() async {
    log(name, .asks, "the cache and the network for \(Message.key(id))")
    async let cached: Void = showCached()
    async let fetched: Void = showFetched()
    _ = await (cached, fetched)
  }

  private func showCached() async {
    do {
      let message = try await dataProvider.fetchDataFromCache(
        withCacheKey: Message.key(id).rawValue)
      log(name, .cache, message == nil ? "has no \(Message.key(id))" : content)
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
    MainActor.assumeIsolated { log(name, .notified, content, context: context as? String) }
  }

  /// The content that a screen would draw.
  var content: String {
    dataProvider.data.map { "shows \($0)" } ?? "shows nothing"
  }
}

/// Shows the list of contacts, row by row.
@MainActor
final class ContactsView: CollectionDataProviderDelegate {
  /// The name under which the list is stored and shared.
  nonisolated static let cacheKey = "contacts"

  nonisolated let dataProvider: CollectionDataProvider<Person>
  private let network: Network
  private let log: Log
  private let name = "ContactsView"

  /// Makes a view that shows nothing yet.
  init(_ dataModelManager: DataModelManager, _ network: Network, _ log: Log) {
    self.network = network
    self.log = log
    dataProvider = CollectionDataProvider<Person>(dataModelManager: dataModelManager)
    dataProvider.delegate = self
  }

  /// Asks cache and network at the same time; the first answer is shown first.
  func open() async {
    log(name, .asks, "the cache and the network for \(Self.cacheKey)")
    async let cached: Void = showCached()
    async let fetched: Void = showFetched()
    _ = await (cached, fetched)
  }

  /// Gives a person another name, as a user would who has tapped on the row.
  ///
  /// - Parameters:
  ///   - row: The person's row.
  ///   - newName: The name.
  func rename(row: Int, to newName: String) {
    var person = dataProvider[row]
    person.name = newName
    let write = dataProvider.update(person, at: row, context: "a tap")
    log(name, .own, Self.rows(write.change) + content, context: "a tap")
  }

  private func showCached() async {
    do {
      let people = try await dataProvider.fetchDataFromCache(withCacheKey: Self.cacheKey)
      log(name, .cache, people == nil ? "has no \(Self.cacheKey)" : content)
    } catch {
      log(name, .cache, "failed: \(error)")
    }
  }

  private func showFetched() async {
    do {
      let people = try await network.contacts()
      dataProvider.setData(people, cacheKey: Self.cacheKey, context: "the network")
      log(name, .network, content, context: "the network")
    } catch {
      log(name, .network, "gives no answer")
    }
  }

  /// Called on the main queue, because that is where the manager delivers.
  nonisolated func collectionDataProviderHasUpdatedData<T>(
    _ dataProvider: CollectionDataProvider<T>, collectionChanges: CollectionChange, data: [T],
    context: (any Sendable)?
  ) {
    MainActor.assumeIsolated {
      let content = Self.content(data.compactMap { $0 as? Person })
      log(name, .notified, Self.rows(collectionChanges) + content, context: context as? String)
    }
  }

  /// The content that a screen would draw.
  var content: String { Self.content(dataProvider.data) }

  private static func content(_ people: [Person]) -> String {
    let people = people.map(\.description).joined(separator: ", ")
    return people.isEmpty ? "shows no person" : "shows \(people)"
  }

  /// The rows that would be redrawn.
  private static func rows(_ change: CollectionChange?) -> String {
    guard case .changes(let changes) = change else { return change == nil ? "" : "all rows: " }
    let rows = changes.map { change in
      switch change {
      case .update(let index): "row \(index) updated"
      case .delete(let index): "row \(index) deleted"
      case .insert(let index): "row \(index) inserted"
      case .move(let from, let to): "row \(from) moved to \(to)"
      }
    }
    return rows.joined(separator: ", ") + ": "
  }
}

/// Logs every commit: a listener that is called for all updates, of any writer.
@MainActor
final class CommitLog: ConsistencyManagerUpdatesListener {
  private let log: Log

  init(_ log: Log) {
    self.log = log
  }

  /// Called on the main queue, after the delegates whose data the update changed.
  nonisolated func consistencyManager(
    _ consistencyManager: ConsistencyManager, processed update: ConsistencyManagerUpdate
  ) {
    guard let changeSet = update.changeSet else { return }
    MainActor.assumeIsolated {
      log("Store", .commit, changeSet.summary, context: update.context as? String)
    }
  }
}

extension ChangeSet {
  /// The change set on one line.
  var summary: String {
    let parts = [
      ("inserted", inserted), ("updated", updated), ("deleted", deleted),
      ("list", collections.map(\.cacheKey)),
    ]
    let words = parts.compactMap { word, names in
      names.isEmpty ? nil : "\(word) \(names.joined(separator: ", "))"
    }
    return "number \(commitNumber.value): " + words.joined(separator: "; ")
  }
}

/// Logs failures: calls on providers don't throw, the manager's delegate is called instead.
final class FailureLog: DataModelManagerDelegate {
  private let log: Log

  init(_ log: Log) {
    self.log = log
  }

  /// Called on a queue of the manager's own.
  func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
    Task { @MainActor [log] in log("Store", .service, "\(event)") }
  }
}
