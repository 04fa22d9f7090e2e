public import PandoConsistency

/// An event for a service's log; see ``DataModelManagerDelegate``.
///
/// ```swift
/// func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
///   if case .failedWrite(let error, let identifiers, _) = event { print(identifiers, error) }
/// }
/// ```
public indirect enum DataModelEvent: Sendable {
  /// A change was refused before it was shown; with its identifiers or cache keys, and its context.
  case refusedChange(any Error, of: [String], context: (any Sendable)?)
  /// A write of a change has failed.
  ///
  /// The providers have removed the change, unless a custom cache has failed. The shown data do not
  /// depend on a cache.
  case failedWrite(any Error, of: [String], context: (any Sendable)?)
  /// A read that live trees need has failed; they stay unchanged.
  ///
  /// If the error is an `UndecodableRecord`, an element of a stored list can't be decoded. The list
  /// hides it until it can be decoded, and reports it once. An element without an identifier is
  /// reported under the cache key.
  case failedRead(any Error, of: String)
  /// A provider has too many queued callbacks, and is paused until they are delivered.
  case tooManyCallbacks(limit: Int, modelType: String)
  /// A model contradicts itself or its type.
  case mistake(ConsistencyError)
}
