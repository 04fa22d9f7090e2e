/// What becomes of a record when some of its children are deleted.
package enum RecordLoss: Hashable, Sendable {
  /// It refers to none of them.
  case unchanged

  /// It goes on without them; this is its new body.
  case changed([UInt8])

  /// It cannot be without one of them, so its node goes too.
  case lost
}
