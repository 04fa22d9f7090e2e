public import Foundation
public import PandoRemote

/// An answer whose content arrives in pieces.
///
/// ```swift
/// let answer = try await client.stream(APIRequest(.get, "/export"))
/// for try await piece in answer { print(piece.count, "bytes") }
/// ```
///
/// - Note: Any thread; one reader at a time.
public struct StreamedResponse: AsyncSequence, Sendable {
  /// Status and header fields; the content is empty.
  public let head: APIResponse

  // Ends the exchange when the last copy of the answer is released.
  fileprivate final class Reading: Sendable {
    let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { exchange.stop() }
  }

  private let reading: Reading

  init(_ head: APIResponse, _ exchange: Exchange) {
    self.head = head
    reading = Reading(exchange)
  }

  /// Reads the content, once.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reading: Reading

    /// Waits for the next piece.
    ///
    /// - Returns: Some bytes; `nil` after the last of them.
    /// - Throws: `APIError` `connectionLost` or `timedOut` if the content is incomplete;
    ///   `CancellationError` if the task was cancelled, which ends the request.
    public mutating func next() async throws -> Data? { try await reading.exchange.next() }
  }

  /// Makes the reader of the content.
  ///
  /// - Returns: The reader; a second one continues where the first has stopped.
  public func makeAsyncIterator() -> Iterator { Iterator(reading: reading) }
}
