import CMicroHTTP
import Foundation
import Glibc
import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1, on GNU libmicrohttpd.
///
/// The library has one thread. It reads requests there, and calls this server with what has come.
/// When a request is whole, its connection is suspended and the handler runs in a task; when the task
/// ends, it resumes the connection, and the library's thread sends the answer. So handlers wait as long
/// as they like, and everything of a connection but `MHD_resume_connection` happens on one thread.
///
/// Any thread may use a server. It serves until ``stop()``, also while no one retains it.
@safe
package final class HTTPServer: @unchecked Sendable {
  // Sendable because the pointer never changes, and the library may be called from any thread.

  /// Answers a request; runs on the concurrent executor, several at a time.
  ///
  /// An ``HTTPError`` becomes the answer it names, any other error one with status 500.
  package typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

  /// More content is refused with status 413.
  package static let bodyByteCountMaximum = 1 << 20
  /// A connection on which nothing moves for so long is closed, unless its handler runs.
  private static let idleTimeInSeconds: UInt32 = 120

  /// Where the server listens.
  package let port: UInt16
  private let daemon: OpaquePointer
  private let desk: RequestDesk

  /// Begins to answer.
  ///
  /// - Parameters:
  ///   - port: Where to listen; 0 for any free port.
  ///   - handler: Answers each request.
  /// - Throws: ``PortError``, for example when another program listens there.
  package init(port: UInt16, handler: @escaping Handler) throws(PortError) {
    desk = RequestDesk(handler)
    // The library gets a reference of its own, which `stop` takes back after its last call.
    let context = unsafe Unmanaged.passRetained(desk)
    let started = unsafe micro_http_start(
      port, Self.idleTimeInSeconds, receive, complete, context.toOpaque())
    guard let daemon = unsafe started else {
      let code = errno
      unsafe context.release()
      throw PortError(port: port, code: code)
    }
    unsafe self.daemon = daemon
    self.port = unsafe micro_http_port(daemon)
  }

  /// Accepts nothing more, lets running handlers end and their answers reach the clients, then closes
  /// every connection.
  ///
  /// *Precondition:* this was not called before.
  package func stop() async {
    let listener = unsafe MHD_quiesce_daemon(daemon)
    precondition(listener >= 0, "a server is stopped once")
    shutdown(listener, Int32(SHUT_RDWR))
    await desk.close()
    await withCheckedContinuation { continuation in
      // It waits for the library's thread, so it has a thread of its own.
      Thread.detachNewThread { [self] in
        unsafe MHD_stop_daemon(daemon)
        Glibc.close(listener)
        unsafe Unmanaged.passUnretained(desk).release()
        continuation.resume()
      }
    }
  }
}

/// A port on which a server can't listen.
package struct PortError: Error, CustomStringConvertible {
  package let port: UInt16
  /// The `errno` of the failed call.
  package let code: Int32

  package var description: String {
    // The text is valid until the next call on this thread; it is copied at once.
    unsafe "can't listen on 127.0.0.1:\(port): \(String(cString: strerror(code)))"
  }
}

/// Takes requests from the library's thread to tasks, and answers back.
private final class RequestDesk: Sendable {
  private struct State {
    /// Two for each running request: its task still resumes the connection, its answer is not yet sent.
    var runningCount = 0
    var isClosing = false
    var afterLast: CheckedContinuation<Void, Never>?
  }

  private let handler: HTTPServer.Handler
  private let state = Mutex(State())

  init(_ handler: @escaping HTTPServer.Handler) { self.handler = handler }

  /// Has the handler answer a request whose connection is suspended.
  ///
  /// - Returns: Whether it will: not when the server is stopping.
  func begin(_ exchange: Exchange) -> Bool {
    let isOpen = state.withLock { state in
      if !state.isClosing { state.runningCount += 2 }
      return !state.isClosing
    }
    guard isOpen else { return false }
    exchange.isRunning = true
    unsafe MHD_suspend_connection(exchange.connection)
    Task.detached { [self, request = exchange.request] in
      let response: HTTPResponse
      do {
        response = try await handler(request)
      } catch {
        response = HTTPResponse(error as? HTTPError ?? HTTPError(500, "\(error)"))
      }
      exchange.answer.withLock { $0 = response }
      unsafe MHD_resume_connection(exchange.connection)
      end()
    }
    return true
  }

  /// Says that a task is done with its connection, or the library with a request that was begun.
  func end() {
    let waiting = state.withLock { state in
      state.runningCount -= 1
      return state.runningCount == 0 ? state.afterLast.take() : nil
    }
    waiting?.resume()
  }

  /// Begins no request any more, and waits for those that have begun.
  func close() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        state.isClosing = true
        if state.runningCount > 0 { state.afterLast = continuation }
        return state.runningCount == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Has the library send an answer; on its thread only.
  func send(_ response: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    let made = unsafe response.body.withUnsafeBytes { bytes in
      // The library copies the bytes before it returns, and writes none.
      unsafe MHD_create_response_from_buffer(
        bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let answer = unsafe made else { return .NO }
    defer { unsafe MHD_destroy_response(answer) }
    unsafe MHD_add_response_header(answer, "Content-Type", response.type)
    for field in response.fields {
      unsafe MHD_add_response_header(answer, field.name, field.value)
    }
    if state.withLock({ $0.isClosing }) {
      unsafe MHD_add_response_header(answer, "Connection", "close")
    }
    return unsafe MHD_queue_response(connection, UInt32(response.status), answer)
  }
}

/// A request under way, from its head to the last byte of its answer.
///
/// The library holds it, as the state that it keeps for us with each request.
@safe
private final class Exchange: @unchecked Sendable {
  // Sendable because only the library's thread uses what is not behind the lock; the connection stays
  // valid until `complete`, which does not come while it is suspended.
  let connection: OpaquePointer
  var request: HTTPRequest
  var isTooLong = false
  var isRunning = false
  /// The handler's answer.
  let answer = Mutex<HTTPResponse?>(nil)

  init(_ connection: OpaquePointer, method: String, target: String) throws(HTTPError) {
    unsafe self.connection = connection
    request = HTTPRequest(
      method: method, path: try target.split(separator: "/").map(Self.decoded))
    request.fields = values(.HEADER_KIND).map { field in
      HTTPField(name: field.name.lowercased(), value: field.value)
    }
    request.query = try values(.GET_ARGUMENT_KIND).map { (field) throws(HTTPError) in
      HTTPField(name: try Self.decoded(field.name), value: try Self.decoded(field.value))
    }
    let length = request.values(of: "content-length").first.flatMap { Int($0) } ?? 0
    isTooLong = length > HTTPServer.bodyByteCountMaximum
  }

  /// The names and values of a kind that came with the head, as they came.
  private func values(_ kind: MHD_ValueKind) -> [HTTPField] {
    var fields: [HTTPField] = []
    // The list outlives the call; the texts are copied.
    unsafe withUnsafeMutablePointer(to: &fields) { fields in
      _ = unsafe MHD_get_connection_values(
        connection, kind,
        { context, _, name, value in
          guard let name = unsafe name else { return .YES }
          unsafe context?.assumingMemoryBound(to: [HTTPField].self).pointee.append(
            HTTPField(
              name: String(cString: name), value: value.map { unsafe String(cString: $0) } ?? ""))
          return .YES
        }, fields)
    }
    return fields
  }

  private static func decoded(_ text: some StringProtocol) throws(HTTPError) -> String {
    if let decoded = text.removingPercentEncoding { return decoded }
    throw HTTPError(400, "the path holds a % that encodes nothing")
  }

  /// Takes a piece of the content; of what is too long nothing is kept.
  func append(_ bytes: UnsafeRawBufferPointer) {
    isTooLong = isTooLong || request.body.count + bytes.count > HTTPServer.bodyByteCountMaximum
    if isTooLong { request.body = [] } else { unsafe request.body.append(contentsOf: bytes) }
  }

  static let tooLong = HTTPError(
    413, "the content is longer than \(HTTPServer.bodyByteCountMaximum) bytes")
}

/// The library calls this on its thread: with the head of a request, then with each piece of its
/// content, then without any when it is whole, and then once more when a suspended connection goes on.
private let receive: MHD_AccessHandlerCallback = {
  context, connection, target, method, _, content, contentByteCount, slot in
  guard let context = unsafe context, let connection = unsafe connection, let slot = unsafe slot,
    let target = unsafe target, let method = unsafe method,
    let contentByteCount = unsafe contentByteCount
  else { return .NO }
  // The desk lives until the library has stopped, the exchange until `complete`.
  let desk = unsafe Unmanaged<RequestDesk>.fromOpaque(context).takeUnretainedValue()
  guard let known = unsafe slot.pointee else {
    do throws(HTTPError) {
      let exchange = try unsafe Exchange(
        connection, method: String(cString: method), target: String(cString: target))
      unsafe slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
      // A client that asks first gets the refusal now; others have sent most of it, and are heard out.
      let asksFirst = !exchange.request.values(of: "expect").isEmpty
      return exchange.isTooLong && asksFirst
        ? unsafe desk.send(HTTPResponse(Exchange.tooLong), on: connection) : .YES
    } catch {
      return unsafe desk.send(HTTPResponse(error), on: connection)
    }
  }
  let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
  if unsafe contentByteCount.pointee > 0 {
    unsafe exchange.append(UnsafeRawBufferPointer(start: content, count: contentByteCount.pointee))
    unsafe contentByteCount.pointee = 0
    return .YES
  }
  if let response = exchange.answer.withLock({ $0 }) {
    return unsafe desk.send(response, on: connection)
  }
  if exchange.isTooLong {
    return unsafe desk.send(HTTPResponse(Exchange.tooLong), on: connection)
  }
  if desk.begin(exchange) { return .YES }
  return unsafe desk.send(HTTPResponse(HTTPError(503, "the service is ending")), on: connection)
}

/// The library calls this when it is done with a request, whatever became of it.
private let complete: MHD_RequestCompletedCallback = { context, _, slot, _ in
  guard let context = unsafe context, let known = unsafe slot?.pointee else { return }
  unsafe slot?.pointee = nil
  // This takes back the reference that the first call of `receive` has given away.
  let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue()
  if exchange.isRunning {
    unsafe Unmanaged<RequestDesk>.fromOpaque(context).takeUnretainedValue().end()
  }
}
