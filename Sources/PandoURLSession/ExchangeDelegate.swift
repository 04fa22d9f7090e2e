import Foundation
import FoundationNetworking

/// Hands what URLSession tells to the exchanges it is about.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Sendable because the table is used under the lock.
  private let lock = NSLock()
  private var exchanges: [ObjectIdentifier: Exchange] = [:]

  /// Makes a session.
  ///
  /// - Parameter configuration: How it connects.
  /// - Returns: A session that calls this delegate.
  func makeSession(_ configuration: URLSessionConfiguration) -> URLSession {
    URLSession(configuration: configuration, delegate: self, delegateQueue: CallingThread())
  }

  /// Says whom a task belongs to, until it ends.
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

  /// A redirect is an answer here.
  ///
  /// The handler is never called: when the task is cancelled at the same time, FoundationNetworking
  /// ends the process (6.3.1).
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

  /// A 401 that asks for a password is an answer too; without this it would never come.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    exchange(of: task)?.finish(.success(()))
    DispatchQueue.global().async { task.cancel() }
  }
}

/// A queue that is none: what is told is told on the thread that knows it, one after another.
///
/// Otherwise FoundationNetworking would queue up whatever comes.
private final class CallingThread: OperationQueue, @unchecked Sendable {
  // Sendable as its superclass is; it has no state.
  override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
