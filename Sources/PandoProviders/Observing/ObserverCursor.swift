/// The position of one observer.
package struct ObserverCursor {
  /// The last version that the observer received; 0 for none.
  var version: UInt64 = 0
  /// The count of failures before the observation began.
  let failureCount: UInt64
  /// True if the observation has ended.
  package internal(set) var isFinished = false

  init(failureCount: UInt64) { self.failureCount = failureCount }
}
