import Pando

/// What a call must come to.
struct Expectation: Sendable {
  enum Outcome: Sendable {
    case success
    /// What it was to change has gone before.
    case superseded
    /// Others decide.
    case any
  }

  let write: PendingWrite
  let outcome: Outcome
  let name: String
  /// Whether it ends behind all calls that were made before; one that has nothing to do ends at once.
  var isOrdered = true
  /// Whether the naive model's list says what comes of it.
  var isOfNaiveRows = false

  /// Waits for it.
  func check(_ ledger: Ledger) async {
    await ledger.awaiting(name) {
      do {
        try await write.committed()
        ledger.require(
          outcome != .superseded, "\(name) succeeds, though its element was gone",
          isOfNaiveRows: isOfNaiveRows)
      } catch let error as DataProviderError where error.code == .superseded {
        ledger.require(
          outcome != .success, "\(name) fails: \(error)", isOfNaiveRows: isOfNaiveRows)
      } catch let error as DataProviderError where error.code == .indexOutOfRange {
        ledger.require(
          outcome == .any, "\(name) fails: \(error)", isOfNaiveRows: isOfNaiveRows)
      } catch {
        ledger.find("\(name) fails: \(error)")
      }
    }
  }
}
