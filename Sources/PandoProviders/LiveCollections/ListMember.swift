import FoundationEssentials
import PandoConsistency
import PandoModels

/// A provider's part in a collection.
struct ListMember<T: SimpleModel>: Sendable {
  /// What a paused member shows, and what it has been told of.
  struct Frozen: Sendable {
    var shown: LiveList<T>
    /// With a store it lacks what others have not committed yet.
    var told: LiveList<T>
    /// When the elements that stand still were changed.
    var lastUpdated: Date?
    /// Why it stands still; without a reason it is on its way back, and shows what is newest.
    var reasons: PauseReasons
    /// The newest context of a change since then, and its time.
    var context: (any Sendable)?
    var date: Date?
  }

  var viewer: ListViewer
  weak let provider: (any CollectionMember<T>)?
  /// What it has still to be told, in order.
  var tellings = TellingQueue<T>()
  /// Set while it is paused.
  var frozen: Frozen?
  /// What observers pull from.
  var observed: ObservedState<LiveList<T>>?
  /// What `withObservationTracking` hears of reads and changes from.
  var tracking: ProviderTracking?

  init(viewer: ListViewer, provider: any CollectionMember<T>) {
    self.viewer = viewer
    self.provider = provider
  }

  var number: UInt64 { viewer.number }

  /// What it shows while it stands still.
  var standstill: Frozen? { frozen.flatMap { $0.reasons.isEmpty ? nil : $0 } }

  /// Whether its pause has ended and what is different has not been queued yet.
  var isOnItsWayBack: Bool { frozen?.reasons.isEmpty ?? false }

  /// Whether callbacks that are queued are delivered.
  var isTold: Bool { frozen.map { $0.reasons == .limit } ?? true }
}

/// Which edits a member knows before they are committed.
struct ListViewer: Sendable {
  let number: UInt64
  /// The last edit that was shown when the member began to show the list, or when its last pause ended.
  var firstEdit: UInt64

  /// Whether the member has made an edit, or has begun with it: it is not told of it when it is
  /// committed.
  func knows<T>(_ operation: ListOperation<T>) -> Bool {
    operation.member == number || operation.editNumber <= firstEdit
  }
}
