import PandoLMDB

/// A record that matches a query.
@safe struct QueryMatch {
  let node: UInt64
  /// Where its body lies; `nil` if nobody has looked at it.
  ///
  /// Valid as long as the snapshot that was queried, and in a transaction until it changes something.
  let body: UnsafeRawBufferPointer?
  /// What the order compares.
  let values: [QueryValue]

  init(node: UInt64) {
    self.node = node
    unsafe body = nil
    values = []
  }

  init(node: UInt64, _ body: Span<UInt8>, values: [QueryValue] = []) {
    self.node = node
    // Used by the one who has the snapshot: see above.
    unsafe self.body = body.withUnsafeBytes { unsafe $0 }
    self.values = values
  }
}
