import Dispatch
import Foundation

/// A small HTTP/1.1 server on 127.0.0.1.
///
/// One thread accepts, one thread a connection reads, waits for the answer and writes it. Requests
/// that make no sense get a 4xx and the end of their connection.
package final class HTTPServer: @unchecked Sendable {
  /// Answers a request; called on the concurrent executor, several at a time.
  package typealias Handler = @Sendable (HTTPRequest) async -> HTTPResponse

  /// Each takes a thread; more wait until one of them ends.
  private static let connectionCountMaximum = 64

  /// Where the server listens.
  package let port: UInt16
  private let listener: Socket
  private let handler: Handler
  private let places = DispatchSemaphore(value: 0)
  // Sendable because everything below is used under the lock only.
  private let lock = NSLock()
  private var connections: [ObjectIdentifier: Socket] = [:]
  private var isStopping = false
  private var afterLast: [CheckedContinuation<Void, Never>] = []

  /// Begins to answer.
  ///
  /// - Parameters:
  ///   - port: Where to listen; 0 for any free port.
  ///   - handler: Answers each request.
  /// - Throws: ``SocketError``, for example when somebody else listens there.
  package init(port: UInt16, handler: @escaping Handler) throws(SocketError) {
    listener = try Socket.listening(onPort: port)
    self.port = listener.port
    self.handler = handler
    for _ in 0..<Self.connectionCountMaximum { places.signal() }
    Thread.detachNewThread { [self] in
      while true {
        places.wait()
        guard let socket = listener.accept() else { return }
        welcome(socket)
      }
    }
  }

  /// Accepts nothing more, lets answers that are under way reach their clients, and returns when the
  /// last connection is closed.
  package func stop() async {
    await withCheckedContinuation { continuation in
      lock.lock()
      isStopping = true
      listener.endReading()
      for socket in connections.values { socket.endReading() }
      let isIdle = connections.isEmpty
      if !isIdle { afterLast.append(continuation) }
      lock.unlock()
      if isIdle { continuation.resume() }
    }
  }

  private func welcome(_ socket: Socket) {
    let isWelcome = lock.withLock {
      if !isStopping { connections[ObjectIdentifier(socket)] = socket }
      return !isStopping
    }
    guard isWelcome else { return }
    Thread.detachNewThread { [self] in
      HTTPConnection(socket, answer: answer, isStopping: { [self] in lock.withLock { isStopping } })
        .serve()
      farewell(socket)
    }
  }

  private func farewell(_ socket: Socket) {
    let waiting = lock.withLock {
      connections[ObjectIdentifier(socket)] = nil
      guard connections.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { afterLast = [] }
      return afterLast
    }
    places.signal()
    for continuation in waiting { continuation.resume() }
  }

  /// Waits for the handler; the thread is the connection's own.
  private func answer(_ request: HTTPRequest) -> HTTPResponse {
    let answer = Answer()
    Task.detached { [handler] in
      answer.response = await handler(request)
      answer.isThere.signal()
    }
    answer.isThere.wait()
    return answer.response
  }

  /// Hands a response from a task to a thread.
  private final class Answer: @unchecked Sendable {
    // Sendable because it is written before the signal and read after it.
    var response = HTTPResponse(status: 500, body: [])
    let isThere = DispatchSemaphore(value: 0)
  }
}
