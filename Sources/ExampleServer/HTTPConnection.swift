/// Serves one client, request by request, on a thread of its own.
struct HTTPConnection {
  /// How long a request may take to come in, and how long a connection may be idle.
  private static let patience = Duration.seconds(10)
  /// What a refused client may still send before it is no longer listened to.
  private static let farewellReadCountMaximum = 64

  private let socket: Socket
  private let answer: (HTTPRequest) -> HTTPResponse
  private let isStopping: () -> Bool

  /// Makes a connection.
  ///
  /// - Parameters:
  ///   - socket: The connection to the client.
  ///   - answer: Answers a request; may wait.
  ///   - isStopping: Whether this request is the last one.
  init(
    _ socket: Socket, answer: @escaping (HTTPRequest) -> HTTPResponse,
    isStopping: @escaping () -> Bool
  ) {
    self.socket = socket
    self.answer = answer
    self.isStopping = isStopping
  }

  /// Answers until one of both has had enough.
  func serve() {
    var parser = HTTPParser()
    do {
      while let request = try nextRequest(&parser) {
        let response = answer(request)
        let keepsConnection = request.keepsConnection && !isStopping()
        try socket.write(
          response.bytes(keepsConnection: keepsConnection, isHead: request.method == "HEAD"))
        guard keepsConnection else {
          if parser.isInsideRequest { sayGoodbye() }
          return
        }
      }
    } catch let error as HTTPError {
      let response = HTTPResponse(error: error.reason, status: error.status)
      try? socket.write(response.bytes(keepsConnection: false, isHead: false))
      sayGoodbye()
    } catch {
      // The client has gone; there is nobody to be told.
    }
  }

  private func nextRequest(_ parser: inout HTTPParser) throws -> HTTPRequest? {
    let deadline = ContinuousClock.now + Self.patience
    var hasSaidContinue = false
    while true {
      if let request = try parser.next() { return request }
      if parser.awaitsContinue, !hasSaidContinue {
        try socket.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        hasSaidContinue = true
      }
      do {
        guard let bytes = try socket.read(before: deadline) else { return nil }
        parser.append(bytes)
      } catch {
        guard parser.isInsideRequest else { throw error }
        throw HTTPError(408, "the request did not come to its end within \(Self.patience)")
      }
    }
  }

  /// Ends the connection so that the last answer arrives: closing it with unread bytes would tear it
  /// down before the client has read.
  private func sayGoodbye() {
    socket.endWriting()
    let deadline = ContinuousClock.now + .seconds(1)
    for _ in 0..<Self.farewellReadCountMaximum {
      guard (try? socket.read(before: deadline)) != nil else { return }
    }
  }
}
