import ExampleServer
import Pando

/// The service: a store, one manager for all live data, two views, and a server for whoever asks.
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
  private let network: Network
  private let commitLog: CommitLog
  private let failureLog: FailureLog
  private var server: HTTPServer?

  /// Where the service listens; 0 before it does.
  var port: UInt16 { server?.port ?? 0 }

  /// Opens the store; nothing is shown and nobody can ask yet.
  ///
  /// - Parameters:
  ///   - directory: Where the store is; created when it is not there.
  ///   - backendPort: Where the network is.
  ///   - log: Where everything is said.
  /// - Throws: `StoreError` or `LMDBError` when the store can't be opened.
  init(directory: String, backendPort: UInt16, _ log: Log) throws {
    self.log = log
    store = try ModelStore(path: directory)
    dataModelManager = try DataModelManager(store: store, deliveringOn: .main)
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
  /// - Throws: ``SocketError`` when somebody else listens there.
  func listen(onPort port: UInt16) throws(SocketError) {
    server = try HTTPServer(port: port) { [weak self] request in
      await self?.answer(request) ?? HTTPResponse(error: "the service has ended", status: 503)
    }
  }

  /// Ends in order: no more requests, then every change on its way to the disk, then the store.
  func close() async {
    await server?.stop()
    network.stop()
    await dataModelManager.close()
    await store.close()
    log("Service", .service, "has closed its store in order")
  }
}
