import Foundation
import PandoFixtures
import PandoManagers
import PandoStore
import PandoSystem
import PandoURLSession

/// A server, a client of it, a store and a queue; all ended afterwards.
struct QueueFixture {
  let server: TestServer
  let client: URLSessionAPIClient
  let store: ModelStore
  let queue: APIClientQueue
  let clock: ManualClock
  let events: QueueEvents

  /// Runs `body` with a queue whose server does as the handler says.
  static func with(
    _ handler: @escaping TestServer.Handler,
    configure: (inout QueueConfiguration) -> Void = { _ in },
    _ body: (QueueFixture) async throws -> Void
  ) async throws {
    let server = try TestServer(handler: handler)
    defer { server.stop() }
    let client = try URLSessionAPIClient(server: server)
    let store = try ModelStore.temporary()
    let clock = ManualClock()
    let events = QueueEvents()
    var configuration = QueueConfiguration()
    configuration.clock = clock
    configuration.backOffJitter = 0
    configuration.onEvent = events.note
    configure(&configuration)
    let queue = APIClientQueue.open(for: store, client: client, configuration: configuration)
    let fixture = QueueFixture(
      server: server, client: client, store: store, queue: queue, clock: clock, events: events)
    do {
      try await body(fixture)
    } catch {
      await queue.close()
      await store.close()
      throw error
    }
    await queue.close()
    await store.close()
  }

  /// The states and requests of the rows, as text.
  func rows() throws -> [String] {
    try queue.requests().map { "\($0.state.rawValue) \($0.request)" }
  }
}

extension URLSessionAPIClient {
  convenience init(
    server: TestServer, configure: (inout Configuration) -> Void = { _ in }
  ) throws {
    var configuration = Configuration()
    // The server answers or closes the connection; how long that takes says nothing.
    configuration.timeoutInSeconds = 1_000_000
    configure(&configuration)
    guard let url = URL(string: server.address) else { throw POSIXError(.EINVAL) }
    self.init(baseURL: url, configuration: configuration)
  }
}

/// What a queue told.
final class QueueEvents: Sendable {
  private let lines = Locked<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  @Sendable func note(_ event: QueueEvent) {
    let line: String =
      switch event {
      case .sending(let request): "sending \(request.request)"
      case .confirmed(let request): "confirmed \(request.request)"
      case .putBack(let request, let error): "put back \(request.request): \(error.code.rawValue)"
      case .failed(let request, let error): "failed \(request.request): \(error.code.rawValue)"
      case .unhandled(let request): "unhandled \(request.request)"
      case .storeFailed(let error): "store failed: \(error)"
      }
    lines.withLock { $0.append(line) }
  }
}

/// What a throwing call throws, as an ``APIError``.
func apiError(
  _ body: () async throws -> some Sendable
) async -> APIError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? APIError
  }
}

extension APIClientQueue {
  /// Lets others go on until so many callers wait for reads.
  func waitForReads(_ count: Int) async {
    while readerCount < count { await Task.yield() }
  }
}
