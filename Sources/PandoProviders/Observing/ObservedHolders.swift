package import PandoModels
import PandoSystem

/// The part of a provider or collection that somebody observes, or that observes for its delegate.
package protocol ObservedHolder: AnyObject, Sendable {
  /// Whether it shows something that was read from the store.
  ///
  /// - Parameters:
  ///   - key: An identifier or a cache key.
  ///   - type: As what it was read; `nil` for a list.
  /// - Returns: `false` if it shows something else only.
  func shows(_ key: ByteString, as type: (any SimpleModel.Type)?) -> Bool

  /// Ends the observations that have begun, by an error; or all of them, without one.
  func endObservations(_ error: (any Error)?)

  /// Waits until it shows what is committed now, wherever it reads that, and queues what its delegate has to be told.
  func catchUp() async
}

extension ObservedHolder {
  package func catchUp() async {}
}

/// Such providers and collections of a manager; none is kept alive.
package final class ObservedHolders: Sendable {
  private let entries = Locked<[ObjectIdentifier: WeakReference<any ObservedHolder>]>([:])

  /// How many there are.
  var count: Int { entries.withLock { $0.count } }

  package func insert(_ holder: any ObservedHolder) {
    entries.withLock { $0[ObjectIdentifier(holder)] = WeakReference(holder) }
  }

  /// Forgets one that goes.
  package func remove(_ holder: any ObservedHolder) {
    entries.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(holder)) }
  }

  /// Ends the observations of everything that shows what could not be read.
  func fail(_ error: any Error, of key: ByteString, as type: (any SimpleModel.Type)?) {
    for holder in holders where holder.shows(key, as: type) { holder.endObservations(error) }
  }

  /// Waits until all show what is committed now, and have queued what delegates have to be told.
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
