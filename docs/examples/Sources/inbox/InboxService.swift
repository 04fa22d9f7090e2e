import MicroHTTP
import Pando
import PandoMetrics

/// The service: a store, one manager for all live data, two views, and a server for clients.
@MainActor
final class InboxService {
  /// The message that the service shows.
  static let messageID = 34

  /// Keeps everything that is live consistent; delivers on the main queue, where the views live.
  let dataModelManager: DataModelManager
  let messageView: MessageView
  let contactsView: ContactsView
  let log: Log
  private let store: ModelStore
  private let metrics = StoreMetrics()
  private let network: Network
  private let commitLog: CommitLog
  private let failureLog: FailureLog
  private var server: HTTPServer?

  /// Where the service listens; 0 before it does.
  var port: UInt16 { server?.port ?? 0 }

  /// Opens the store; nothing is shown and the server does not listen yet.
  ///
  /// - Parameters:
  ///   - directory: Where the store is; created when it is not there.
  ///   - backendPort: Where the network is.
  ///   - log: Where everything is said.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be opened.
  init(directory: String, backendPort: UInt16, _ log: Log) throws {
    self.log = log
    var configuration = ModelStore.Configuration()
    configuration.observer = metrics
    store = try ModelStore(path: directory, configuration: configuration)
    dataModelManager = try DataModelManager(store: store, deliveringOn: .main)
    metrics.watch(store)
    metrics.watch(dataModelManager)
    network = Network(port: backendPort)
    messageView = MessageView(id: Self.messageID, dataModelManager, network, log)
    contactsView = ContactsView(dataModelManager, network, log)
    commitLog = CommitLog(log)
    dataModelManager.consistencyManager.addUpdatesListener(commitLog)
    failureLog = FailureLog(log)
    dataModelManager.delegate = failureLog
  }

  /// Begins to listen for requests.
  ///
  /// - Parameter port: Where; 0 for any free port.
  /// - Throws: ``PortError`` when another program listens there.
  func listen(onPort port: UInt16) throws(PortError) {
    server = try HTTPServer(port: port) { [weak self] request in
      guard let self else { throw HTTPError(503, "the service has ended") }
      return try await answer(request)
    }
  }

  /// Ends in order: no more requests, then every pending change to the disk, then the store.
  func close() async {
    await server?.stop()
    network.stop()
    await dataModelManager.close()
    await store.close()
    log("Service", .service, "has closed its store in order")
  }
}

/// The answers of the service, and the effect of a request on the data.
///
/// None of this refers to a view: a change is given to the manager, or to a collection by its key,
/// and every view that shows it is notified.
extension InboxService {
  /// Answers a request; an ``HTTPError`` is an answer too.
  private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let method = request.method == "HEAD" ? "GET" : request.method
    switch (request.path.first, request.path.count) {
    case (nil, 0):
      try require(method, among: "GET")
      return HTTPResponse(Self.routes)
    case ("inbox", 2):
      let id = try number(request.path[1])
      try require(method, among: "GET", "PUT")
      return try await method == "GET" ? message(id) : putMessage(id, request)
    case ("contacts", 1):
      try require(method, among: "GET")
      return HTTPResponse(contactsView.dataProvider.data)
    case ("people", 2):
      let id = try number(request.path[1])
      try require(method, among: "PUT", "DELETE")
      return try await method == "PUT" ? putPerson(id, request) : deletePerson(id)
    case ("metrics", 1):
      try require(method, among: "GET")
      return HTTPResponse(
        text: metrics.measurements().prometheusText,
        type: "text/plain; version=0.0.4; charset=utf-8")
    case ("push", 1):
      try require(method, among: "POST")
      return try await push(request)
    default:
      throw HTTPError(404, "there is nothing here; GET / lists what there is")
    }
  }

  private static let routes = [
    "GET /inbox/\(messageID)", "PUT /inbox/\(messageID)", "GET /contacts", "PUT /people/ID",
    "DELETE /people/ID", "POST /push", "GET /metrics",
  ]

  private func message(_ id: Int) throws -> HTTPResponse {
    guard let message = messageView.dataProvider.data, message.id == id else {
      throw HTTPError(404, "there is no message \(id) now")
    }
    return HTTPResponse(message)
  }

  private func putMessage(_ id: Int, _ request: HTTPRequest) async throws -> HTTPResponse {
    let message = try request.decoded(as: Message.self)
    guard message.id == id else { throw HTTPError(400, "id is \(message.id), the path says \(id)") }
    return try await commit(
      dataModelManager.updateModel(message, context: "PUT /inbox/\(id)"))
  }

  private func putPerson(_ id: Int, _ request: HTTPRequest) async throws -> HTTPResponse {
    let content = try request.decoded(as: PersonContent.self)
    let person = Person(id: id, name: content.name, isOnline: content.isOnline)
    return try await commit(dataModelManager.updateModel(person, context: "PUT /people/\(id)"))
  }

  /// The content of a request about the person of its path.
  private struct PersonContent: Decodable {
    let name: String
    let isOnline: Bool
  }

  private func deletePerson(_ id: Int) async throws -> HTTPResponse {
    // Only the identifier counts.
    let person = Person(id: id, name: "", isOnline: false)
    let deletion = dataModelManager.deleteModel(person, context: "DELETE /people/\(id)")
    guard let changeSet = try await deletion.committed() else {
      throw HTTPError(404, "there is no person \(id)")
    }
    return HTTPResponse(CommitAnswer(changeSet))
  }

  /// A push refers to no view and no provider: the key of the list is enough.
  private func push(_ request: HTTPRequest) async throws -> HTTPResponse {
    let people = try request.decoded(as: [Person].self)
    return try await commit(
      CollectionDataProvider.append(
        people, cacheKey: ContactsView.cacheKey, dataModelManager: dataModelManager,
        context: "a push"))
  }

  private func commit(_ write: PendingWrite) async throws -> HTTPResponse {
    HTTPResponse(CommitAnswer(try await write.committed()))
  }

  private func require(_ method: String, among allowed: String...) throws(HTTPError) {
    guard !allowed.contains(method) else { return }
    throw HTTPError(405, "\(method) is not for this path", allowed: allowed.joined(separator: ", "))
  }

  private func number(_ text: String) throws(HTTPError) -> Int {
    guard let number = Int(text) else { throw HTTPError(404, "“\(text)” is no number") }
    return number
  }
}

/// The result of a change, for the client.
struct CommitAnswer: Encodable {
  /// The number of the commit; absent if nothing has changed.
  var commit: UInt64?
  var inserted: [String] = []
  var updated: [String] = []
  var deleted: [String] = []

  init(_ changeSet: ChangeSet?) {
    guard let changeSet else { return }
    commit = changeSet.commitNumber.value
    inserted = changeSet.inserted
    updated = changeSet.updated
    deleted = changeSet.deleted
  }
}
