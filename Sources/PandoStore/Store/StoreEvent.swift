/// Something that a service may want to log or count.
///
/// Given to the `events` closure of ``ModelStore/Configuration``; the set may grow.
public enum StoreEvent: Sendable {
  /// A flush took longer than `slowCommitThreshold`.
  case slowCommit(duration: Duration, writeCount: Int)
  /// The memory map was full and has been grown.
  case mapGrown(sizeInBytes: Int)
  /// Reader slots of processes that have died were freed.
  case staleReadersCleared(count: Int)
  /// A write failed; its caller has the error too.
  case failedWrite(any Error)
  /// One tree held an identifier twice with different content; the last in traversal order counts.
  case conflictingContent(identifier: String, typeName: String)
  /// A merge brought a field that the type can't decode; the field kept its old value.
  case fieldKept(identifier: String, typeName: String, field: String)
  /// The hand-written `forEach` of a model names other children than its coding (debug builds).
  case childrenDisagree(identifier: String, typeName: String)
}
