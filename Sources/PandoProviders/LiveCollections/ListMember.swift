import FoundationEssentials
import PandoConsistency
import PandoModels

/// The state of one provider in a collection.
struct ListMember<T: SimpleModel>: Sendable {
  /// The list that a paused member shows, and the list that its delegate last received.
  struct Frozen: Sendable {
    var shown: LiveList<T>
    /// With a store, this list lacks uncommitted edits of other members.
    var told: LiveList<T>
    /// The time of the last change to the shown elements.
    var lastUpdated: Date?
    /// The reasons for the pause.
    ///
    /// Without a reason the member resumes, and shows the newest elements.
    var reasons: PauseReasons
    /// The context of the newest change since the pause began.
    ///
    /// `date` is the time of that change.
    var context: (any Sendable)?
    var date: Date?
  }

  var viewer: ListViewer
  weak let provider: (any CollectionMember<T>)?
  /// The queued notifications, in order.
  var tellings = TellingQueue<T>()
  /// The paused state; `nil` if the member is not paused.
  var frozen: Frozen?
  /// The state from which observers pull.
  var observed: ObservedState<LiveList<T>>?
  /// Reports reads and changes to `withObservationTracking`.
  var tracking: ProviderTracking?

  init(viewer: ListViewer, provider: any CollectionMember<T>) {
    self.viewer = viewer
    self.provider = provider
  }

  var number: UInt64 { viewer.number }

  /// The paused state while a reason to pause remains.
  var standstill: Frozen? { frozen.flatMap { $0.reasons.isEmpty ? nil : $0 } }

  /// True if the pause has ended and its changes are not queued yet.
  var isOnItsWayBack: Bool { frozen?.reasons.isEmpty ?? false }

  /// True if queued callbacks are delivered.
  ///
  /// A member that is paused by the limit of callbacks alone still receives those queued before.
  var isTold: Bool { frozen.map { $0.reasons == .limit } ?? true }
}

/// Decides which edits a member's delegate has before they are committed.
struct ListViewer: Sendable {
  let number: UInt64
  /// The number of the last edit shown when the member joined, when its last pause ended, or when
  /// its delegate was set.
  var firstEdit: UInt64

  /// Returns true if the member made the edit, or has shown it from its beginning.
  ///
  /// Such a member is not notified when the edit is committed.
  func knows<T>(_ operation: ListOperation<T>) -> Bool {
    operation.member == number || operation.editNumber <= firstEdit
  }
}
