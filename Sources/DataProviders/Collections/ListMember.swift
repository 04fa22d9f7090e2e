import Consistency
import Foundation
import ModelCore

/// A provider's part in a collection.
struct ListMember<T: SimpleModel>: Sendable {
  /// What a paused member shows, and what it has been told of.
  struct Frozen: Sendable {
    var shown: LiveList<T>
    /// With a store it lacks what others have not committed yet.
    var told: LiveList<T>
    let lastUpdated: Date?
    /// The newest context of a change since then.
    var context: (any Sendable)?
  }

  let number: UInt64
  weak let provider: CollectionDataProvider<T>?
  /// What it has still to be told, in order.
  var tellings = TellingQueue()
  /// Set while it is paused.
  var frozen: Frozen?
  /// What observers pull from.
  var observed: ObservedState<LiveList<T>>?
  /// What `withObservationTracking` hears of reads and changes from.
  var tracking: ProviderTracking?

  init(number: UInt64, provider: CollectionDataProvider<T>) {
    self.number = number
    self.provider = provider
  }
}
