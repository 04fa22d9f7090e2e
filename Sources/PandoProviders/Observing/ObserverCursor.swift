/// How far one observer has come.
package struct ObserverCursor {
  /// The last version that it has seen; 0 for none.
  var version: UInt64 = 0
  /// How many failures there were before it began.
  let failureCount: UInt64
  /// Whether it has got all it will ever get.
  var isFinished = false

  init(failureCount: UInt64) { self.failureCount = failureCount }
}
