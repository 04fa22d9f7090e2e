extension [UInt8] {
  /// Makes an array of random bytes.
  ///
  /// - Parameters:
  ///   - count: How many bytes, at least and at most.
  ///   - limit: What every byte is below.
  ///   - random: Where the randomness comes from.
  public init(
    randomCount count: ClosedRange<Int>, below limit: UInt8, using random: inout SeededGenerator
  ) {
    self = (0..<Int.random(in: count, using: &random)).map { _ in
      UInt8.random(in: 0..<limit, using: &random)
    }
  }

  /// Copies the bytes of a span.
  ///
  /// - Parameter span: Any bytes.
  public init(_ span: Span<UInt8>) {
    self.init()
    reserveCapacity(span.count)
    for index in span.indices { append(span[index]) }
  }
}
