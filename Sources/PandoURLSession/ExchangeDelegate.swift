import Foundation
import FoundationNetworking

/// Passes URLSession's calls to the exchanges of their tasks.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Sendable because the lock guards the table.
  private let lock = NSLock()
  private var exchanges: [ObjectIdentifier: Exchange] = [:]

  /// Makes a session.
  ///
  /// - Parameter configuration: The configuration of the session.
  /// - Returns: A session that calls this delegate.
  func makeSession(_ configuration: URLSessionConfiguration) -> URLSession {
    URLSession(configuration: configuration, delegate: self, delegateQueue: CallingThread())
  }

  /// Assigns a task to an exchange, until the task ends.
  func add(_ exchange: Exchange, of task: URLSessionTask) {
    lock.withLock { exchanges[ObjectIdentifier(task)] = exchange }
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    lock.withLock { exchanges[ObjectIdentifier(task)] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    if let response = response as? HTTPURLResponse { exchange(of: dataTask)?.received(response) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.received(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let exchange = lock.withLock { exchanges.removeValue(forKey: ObjectIdentifier(task)) }
    exchange?.completed(task, error)
  }

  /// Handles a redirect as the answer.
  ///
  /// It never calls the handler: FoundationNetworking (6.3.1) ends the process when the task is
  /// cancelled at the same time.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    let exchange = exchange(of: task)
    exchange?.received(response)
    exchange?.finish(.success(()))
    DispatchQueue.global().async { task.cancel() }
  }

  /// Handles a 401 with a password challenge as the answer, which would never arrive otherwise.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    exchange(of: task)?.finish(.success(()))
    DispatchQueue.global().async { task.cancel() }
  }
}

/// A queue that runs each block at once, on the calling thread.
///
/// FoundationNetworking would queue all calls without limit otherwise.
private final class CallingThread: OperationQueue, @unchecked Sendable {
  // Sendable as its superclass is; it has no state.
  override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
