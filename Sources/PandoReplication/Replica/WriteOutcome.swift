/// What became of a write whose answer was lost, as far as the store has taken in its log.
///
/// ```swift
/// do {
///   try await boards.store.write { try $0.set(card) }
/// } catch let error as StoreError where error.writeName != nil {
///   names.append(error.writeName)  // asked for later: boards.outcome(ofWrite: name)
/// }
/// ```
public enum WriteOutcome: Hashable, Sendable {
  /// It is stored, on all machines; this is its position.
  case stored(position: UInt64)
  /// It came behind a write that it had not seen, and nothing of it is stored.
  case refused
  /// It has not come yet, and may come.
  ///
  /// Ask again when the store has caught up and has written something else. After another opening it can stay pending for
  /// 10 000 positions of the log.
  case pending
  /// It is not stored, and can't be any more.
  case absent
  /// It came, and the store became a copy before it was seen: what is stored says whether it was refused.
  case unknown
}
