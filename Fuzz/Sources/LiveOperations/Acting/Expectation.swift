import Pando

/// The expected result of a call.
struct Expectation: Sendable {
  enum Outcome: Sendable {
    case success
    /// The element or model of the call was removed before.
    case superseded
    /// Others decide.
    case any
  }

  let write: PendingWrite
  let outcome: Outcome
  let name: String
  /// Whether it ends behind all calls that were made before; one that has nothing to do ends at once.
  var isOrdered = true
  /// Whether the result follows from the naive model's list.
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
