public import PandoConsistency

/// What a service may want to log or act on; see ``DataModelManagerDelegate``.
///
/// ```swift
/// func dataModelManager(_ manager: DataModelManager, hasEvent event: DataModelEvent) {
///   if case .failedWrite(let error, let identifiers, _) = event { print(identifiers, error) }
/// }
/// ```
public indirect enum DataModelEvent: Sendable {
  /// A change was refused before it was shown: identifiers or cache keys it was about, its context.
  case refusedChange(any Error, of: [String], context: (any Sendable)?)
  /// Writing a change has failed; providers have gone back to what is without it, unless a custom
  /// cache has failed, which what is shown does not depend on.
  case failedWrite(any Error, of: [String], context: (any Sendable)?)
  /// Something that live trees need could not be read; they stay as they were. Where the error is an
  /// `UndecodableRecord`, an element of a stored list can't be decoded: the list leaves it out until it can
  /// be, and says so once; one without identifier goes by the cache key.
  case failedRead(any Error, of: String)
  /// A provider has so many callbacks that are not delivered that it is paused until they are.
  case tooManyCallbacks(limit: Int, modelType: String)
  /// A model contradicts itself or its type.
  case mistake(ConsistencyError)
}
