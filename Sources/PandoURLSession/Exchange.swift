import Foundation
import FoundationNetworking
import PandoRemote

/// A request in progress and the received part of its answer.
///
/// URLSession calls from its one thread; one reader reads. Once `limit` bytes wait, later content
/// goes to a file until the reader has caught up. FoundationNetworking (6.3.1) can't pause a
/// transfer: `suspend()` sends the request again, and all sessions share one thread.
final class Exchange: @unchecked Sendable {
  // Sendable because the lock guards all variables.
  private let lock = NSLock()
  private let request: APIRequest
  private let limit: Int?
  private let task: URLSessionDataTask
  private var timer: (any DispatchSourceTimer)?
  private var head: APIResponse?
  private var expectedCount: Int?
  private var pieces: [Data] = []
  private var receivedCount = 0
  private var waitingCount = 0
  private var overflow: OverflowFile?
  /// How it ended; `.success` after the last of the content.
  private var end: Result<Void, any Error>?
  private var reader: CheckedContinuation<Void, Never>?

  /// Makes an exchange whose task has not started.
  ///
  /// - Parameters:
  ///   - request: The request, for errors.
  ///   - task: The task.
  ///   - limit: How many bytes may wait in memory; `nil` for any number.
  init(_ request: APIRequest, _ task: URLSessionDataTask, limit: Int?) {
    (self.request, self.task, self.limit) = (request, task, limit)
  }

  /// Starts the task.
  ///
  /// - Parameter timeoutInSeconds: The time for the whole answer; `nil` for no limit.
  func start(timeoutInSeconds: Double?) {
    if let timeoutInSeconds {
      let made = DispatchSource.makeTimerSource(queue: .global())
      made.setEventHandler { [weak self, request] in
        self?.stop(
          APIError(
            .timedOut, request, "the answer was not whole after \(timeoutInSeconds) seconds"))
      }
      made.schedule(deadline: .now() + timeoutInSeconds)
      lock.withLock { timer = made }
      made.resume()
    }
    task.resume()
  }

  /// Waits for status and header fields.
  func response() async throws -> APIResponse {
    while true {
      let known = lock.withLock { (head, end) }
      if case .failure(let error) = known.1 { throw error }
      if let head = known.0 { return head }
      try await something { $0.head != nil }
    }
  }

  /// Waits for more content; returns `nil` after the last of it.
  func next() async throws -> Data? {
    while true {
      let (piece, end) = try lock.withLock { () -> (Data?, Result<Void, any Error>?) in
        if !pieces.isEmpty {
          let piece = pieces.removeFirst()
          waitingCount -= piece.count
          return (piece, nil)
        }
        if let piece = try overflow?.next() { return (piece, nil) }
        return (nil, self.end)
      }
      if let piece { return piece }
      if let end {
        try end.get()
        return nil
      }
      try await something { !$0.pieces.isEmpty || $0.overflow?.isEmpty == false }
    }
  }

  /// Waits for the whole content.
  func content() async throws -> Data {
    var content = Data()
    while let piece = try await next() { content.append(piece) }
    return content
  }

  /// Ends the exchange, in whatever state it is.
  func stop(_ error: any Error = CancellationError()) {
    finish(.failure(error))
    // Not on this thread: it waits for URLSession's thread, which may be about to wake the caller.
    DispatchQueue.global().async { [task] in task.cancel() }
  }

  /// Waits until the condition holds or the exchange ends.
  private func something(_ isThere: @escaping (Exchange) -> Bool) async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = lock.withLock {
          if end != nil || isThere(self) { return true }
          reader = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      stop()
    }
    try Task.checkCancellation()
  }
}

/// The calls of URLSession, on its thread.
extension Exchange {
  /// Receives status and header fields.
  func received(_ response: HTTPURLResponse) {
    var headers = APIHeaders()
    for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
    let status = response.statusCode
    // Informational responses such as 103 are not the answer.
    guard status >= 200 else { return }
    wake {
      head = APIResponse(status: status, headers: headers)
      guard request.method != .head, status != 204, !(300..<400).contains(status),
        headers["Content-Encoding"] == nil, headers["Transfer-Encoding"] == nil
      else { return }
      expectedCount = headers["Content-Length"].flatMap { Int($0) }
    }
  }

  /// Receives a piece of content.
  func received(_ data: Data) {
    guard !data.isEmpty else { return }
    wake {
      guard end == nil else { return }
      receivedCount += data.count
      guard let limit, waitingCount >= limit || overflow?.isEmpty == false else {
        pieces.append(data)
        waitingCount += data.count
        return
      }
      do {
        let file = try overflow ?? OverflowFile()
        overflow = file
        try file.append(data)
      } catch {
        end = .failure(
          APIError(.connectionLost, request, "the answer found no room", underlying: error))
        DispatchQueue.global().async { [task] in task.cancel() }
      }
    }
  }

  /// Ends the exchange; the first result counts.
  func finish(_ result: Result<Void, any Error>) {
    wake {
      guard end == nil else { return }
      end = result
      if case .success = result {
        if head == nil {
          end = .failure(APIError(.connectionLost, request, "no answer of HTTP came"))
        } else if let expectedCount, receivedCount < expectedCount {
          end = .failure(
            APIError(
              .connectionLost, request,
              "the connection ended after \(receivedCount) of \(expectedCount) bytes of the answer"
            ))
        }
      } else if request.method == .head || limit == nil || Self.isCancellation(result) {
        pieces = []
        overflow = nil
      }
      timer?.cancel()
      timer = nil
    }
  }

  /// Receives the end of the task.
  func completed(_ task: URLSessionTask, _ error: (any Error)?) {
    if let error {
      finish(.failure(failure(error)))
      return
    }
    // URLSession reports the heads of redirects only at the end.
    if lock.withLock({ head == nil }), let response = task.response as? HTTPURLResponse {
      received(response)
    }
    finish(.success(()))
  }

  private func failure(_ error: any Error) -> any Error {
    switch (error as? URLError)?.code {
    case .cancelled: CancellationError()
    case .timedOut: APIError(.timedOut, request, "no answer came in time")
    default: APIError(.connectionLost, request, "no whole answer came", underlying: error)
    }
  }

  private static func isCancellation(_ result: Result<Void, any Error>) -> Bool {
    if case .failure(let error) = result { error is CancellationError } else { false }
  }

  private func wake(_ change: () -> Void) {
    let reader = lock.withLock {
      change()
      defer { self.reader = nil }
      return self.reader
    }
    reader?.resume()
  }
}
