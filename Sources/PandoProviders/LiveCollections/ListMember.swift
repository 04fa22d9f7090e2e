import FoundationEssentials
import PandoConsistency
import PandoModels

/// The state of one provider in a collection.
struct ListMember<T: SimpleModel>: Sendable {
  /// The list that a paused member shows, and the list that its delegate last received.
  struct Frozen: Sendable {
    var shown: LiveList<T>
    /// The list after the last notification before the pause, with later edits of the member.
    ///
    /// With a store, it lacks uncommitted edits of other members.
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

  /// True if queued notifications are sent: the member is not paused, or only by their limit.
  ///
  /// It then receives the notifications that were queued before the pause.
  var receivesTellings: Bool { frozen.map { $0.reasons == .limit } ?? true }
}

/// The edits that a member's delegate has before they are committed.
struct ListViewer: Sendable {
  let number: UInt64
  /// The number of the newest edit when the member joined, when its last pause ended, or when its
  /// delegate was set.
  var firstEdit: UInt64

  /// Returns true if the member made the edit, or showed it at the moment of `firstEdit`.
  ///
  /// Such a member is not notified when the edit is committed.
  func knows<T>(_ operation: ListOperation<T>) -> Bool {
    operation.member == number || operation.editNumber <= firstEdit
  }
}
