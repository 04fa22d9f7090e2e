/// Notes what the default merge could not do, where somebody watches.
///
/// `merge(_:)` returns a model and nothing else; without this nobody would learn of a field that kept
/// its old value.
package final class MergeWatch: @unchecked Sendable {
  // Sendable because it is used by the task that set it only, during one synchronous call.

  /// A merge between two types that was not done, or not in every field.
  package struct Fault {
    package let older: any Model
    package let newer: any Model
    /// The fields that kept their values; empty if nothing could be taken.
    package let kept: [String]
  }

  @TaskLocal package static var current: MergeWatch?

  package private(set) var faults: [Fault] = []

  package init() {}

  func note(_ older: any Model, _ newer: any Model, kept: [String]) {
    faults.append(Fault(older: older, newer: newer, kept: kept))
  }

  /// Takes what was noted since the last time.
  package func takeFaults() -> [Fault] {
    defer { faults = [] }
    return faults
  }
}
