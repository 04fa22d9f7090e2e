/// A token from which a ``Snapshot`` can be made again while its transaction lives.
///
/// For code that can't hold a `~Escapable` value, such as a `Decoder`. Whoever keeps one proves
/// that it is not used after the closure of the transaction has returned.
@safe
package struct UnsafeSnapshotHandle {
  /// The `MDB_txn`.
  let transaction: OpaquePointer
  /// The environment of the transaction.
  let environment: EnvironmentNumber
  /// Whether it is a read transaction, whose pages all lie in the map and don't change.
  let isReadOnly: Bool
  /// How often the environment had mapped its file anew.
  var mapNumber: UInt32 = 0
}
