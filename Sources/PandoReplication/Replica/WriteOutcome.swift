/// The outcome of a write whose answer was lost, according to the log up to the position of the store.
///
/// ```swift
/// do {
///   try await boards.store.write { try $0.set(card) }
/// } catch let error as StoreError where error.writeName != nil {
///   names.append(error.writeName)  // later: boards.outcome(ofWrite: name)
/// }
/// ```
public enum WriteOutcome: Hashable, Sendable {
  /// The write is stored, on all machines; this is its position.
  case stored(position: UInt64)
  /// The write followed another one that it had not seen, and nothing of it is stored.
  case refused
  /// The write has not arrived, and may still arrive.
  ///
  /// Read the outcome again after the store has caught up and has written something else. After another opening the
  /// outcome can stay pending for 10 000 positions of the log.
  case pending
  /// The write is not stored, and can't be stored any more.
  case absent
  /// The write arrived, but the store became a copy before it was judged here.
  ///
  /// The stored data shows whether it was refused.
  case unknown
}
