package import PandoModels
import PandoSystem

/// The part of a provider or collection that has observers, or observes on behalf of its delegate.
package protocol ObservedHolder: AnyObject, Sendable {
  /// Returns true if the holder shows data that was read from the store.
  ///
  /// - Parameters:
  ///   - key: An identifier or a cache key.
  ///   - type: The type of the read; `nil` for a list.
  /// - Returns: `false` if the holder shows other data only.
  func shows(_ key: ByteString, as type: (any SimpleModel.Type)?) -> Bool

  /// Ends the running observations with an error; ends all observations if the error is `nil`.
  func endObservations(_ error: (any Error)?)

  /// Waits until the holder shows the committed data and has queued the calls of its delegate.
  func catchUp() async
}

extension ObservedHolder {
  package func catchUp() async {}
}

/// The observed holders of a manager; held by weak references.
package final class ObservedHolders: Sendable {
  private let entries = Locked<[ObjectIdentifier: WeakReference<any ObservedHolder>]>([:])

  var count: Int { entries.withLock { $0.count } }

  package func insert(_ holder: any ObservedHolder) {
    entries.withLock { $0[ObjectIdentifier(holder)] = WeakReference(holder) }
  }

  /// Removes a holder that ends.
  package func remove(_ holder: any ObservedHolder) {
    entries.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(holder)) }
  }

  /// Ends the observations of all holders that show data which could not be read.
  func fail(_ error: any Error, of key: ByteString, as type: (any SimpleModel.Type)?) {
    for holder in holders where holder.shows(key, as: type) { holder.endObservations(error) }
  }

  /// Waits until all holders show the committed data and have queued the calls of their delegates.
  func catchUp() async {
    for holder in holders { await holder.catchUp() }
  }

  /// Ends all observations.
  func finish() {
    for holder in holders { holder.endObservations(nil) }
  }

  private var holders: [any ObservedHolder] {
    entries.withLock { Array($0.values) }.compactMap(\.object)
  }
}
